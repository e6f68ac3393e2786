/** Operations on replies and streams. */

import { isObject, object } from '../json/values.mjs';
import { JsonError, readJson } from '../json/read.mjs';
import { readArguments, readMessage, readReply } from '../reply.mjs';
import { Completion } from '../stream/completion.mjs';
import { EventDecoder } from '../stream/sse.mjs';
import { ThoughtSplitter } from '../stream/thoughts.mjs';
import { valueError } from '../errors.mjs';

const options = (input) => ({ repair: input.get('repair') === true });

/** With a member `repair` the repairs are part of the result. */
const shown = (input, { object: answer, repairs }) => (input.has('repair') ? object({ object: answer, repairs }) : answer);

function strictJson(text) {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw valueError(error.message);
    throw error;
  }
}

function errorPlace(text) {
  try {
    readJson(text);
    return null;
  } catch (error) {
    if (error instanceof JsonError) return error.place;
    throw error;
  }
}

/** Texts as UTF-8, `{"base64": …}` and the wire's own bytes as they are. */
export function bytesOf(chunk) {
  if (chunk instanceof Uint8Array) return chunk;
  return isObject(chunk) ? Buffer.from(chunk.get('base64'), 'base64') : Buffer.from(chunk, 'utf8');
}

function decoded(input) {
  const decoder = new EventDecoder();
  const events = input.get('chunks').flatMap((chunk) => decoder.decode(bytesOf(chunk)));
  return { events, rest: decoder.rest() };
}

function completed(input) {
  const completion = new Completion();
  for (const chunk of input.get('chunks')) completion.add(chunk);
  return completion.toJson();
}

function messageAnswer(input) {
  const message = input.get('message');
  const { content, toolCalls } = Completion.whole(object({ choices: [object({ message })] }));
  return readMessage({ content, toolCalls }, { tool: input.get('tool') ?? null, ...options(input) });
}

function thoughts(input) {
  const splitter = new ThoughtSplitter();
  return [...input.get('chunks').map((chunk) => splitter.push(chunk)), splitter.end()].map((piece) => object(piece));
}

export const replies = {
  'reply.process': (input) => readReply(input.get('text')).text,
  'reply.problem': (input) => readReply(input.get('text')).problem,
  'reply.duplicates': (input) => readReply(input.get('text'), options(input)).duplicates,
  'reply.repaired_text': (input) => readReply(input.get('text'), { repair: true }).text,
  'reply.json': (input) => strictJson(input.get('text')),
  'reply.json_error': (input) => errorPlace(input.get('text')),
  'reply.arguments': (input) => shown(input, readArguments(input.get('text'), options(input))),
  'reply.answer': (input) => shown(input, messageAnswer(input)),
  'slot.parse_reply': (input) => shown(input, readReply(input.get('text'), options(input))),
  'stream.decode': (input) => decoded(input).events.map((event) => object(event)),
  'stream.rest': (input) => {
    const { rest } = decoded(input);
    return rest === null ? null : object(rest);
  },
  'stream.deltas': (input) => {
    const completion = new Completion();
    return input.get('chunks').map((chunk) => object(completion.add(chunk)));
  },
  'stream.complete': completed,
  'stream.whole': (input) => Completion.whole(input.get('body')).toJson(),
  'stream.thoughts': thoughts,
};

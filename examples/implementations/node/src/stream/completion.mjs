/**
 * How chunks add up to a completion: content, reasoning, refusal, tool calls, finish reason, usage, error.
 *
 * One `Completion` belongs to one response; nothing is shared between two.
 */

import { equal, isArray, isObject } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { scanArguments } from './fragments.mjs';

const SHOWN = 200;
const TEXT_PARTS = [undefined, 'text', 'output_text'];
const REASONING_PARTS = ['thinking', 'reasoning'];

const text = (value) => (typeof value === 'string' ? value : '');
const shownJson = (value) => {
  const whole = [...toText(value)];
  return whole.length > SHOWN ? `${whole.slice(0, SHOWN).join('')}…` : whole.join('');
};
const isEmpty = (value) =>
  value === undefined || value === null || value === '' || value === false || value === 0n || value === 0
  || (isArray(value) && value.length === 0) || (isObject(value) && value.size === 0);

/** Content may come as a list of parts, thoughts among them. */
function partsText(parts) {
  let content = '';
  let reasoning = '';
  for (const part of parts) {
    if (typeof part === 'string') content += part;
    if (!isObject(part)) continue;
    const thinking = part.get('thinking');
    if (typeof thinking === 'string') reasoning += thinking;
    else if (isArray(thinking)) reasoning += thinking.map((p) => (isObject(p) ? text(p.get('text')) : text(p))).join('');
    else if (REASONING_PARTS.includes(part.get('type'))) reasoning += text(part.get('text'));
    else if (TEXT_PARTS.includes(part.get('type'))) content += text(part.get('text'));
  }
  return { content, reasoning };
}

/** What a delta or a message adds as text. */
export function texts(message) {
  const content = message.get('content');
  const parts = isArray(content) ? partsText(content) : { content: text(content), reasoning: '' };
  const own = text(message.get('reasoning_content')) || text(message.get('reasoning'));
  return { content: parts.content, reasoning: own + parts.reasoning };
}

const firstChoice = (chunk) => {
  const choices = isArray(chunk.get('choices')) ? chunk.get('choices') : [];
  return choices.find((choice) => isObject(choice) && [0n, null].some((first) => equal(choice.get('index') ?? null, first)));
};

function errorObject(error) {
  if (isObject(error)) {
    const message = error.get('message');
    return new Map([...error, ['message', typeof message === 'string' && message ? message : shownJson(error)]]);
  }
  return new Map([['message', typeof error === 'string' ? error : shownJson(error)]]);
}

export class Completion {
  content = '';

  reasoning = '';

  refusal = '';

  /** `{id, name, arguments, index}` in the order in which they began. */
  toolCalls = [];

  finishReason = null;

  usage = null;

  error = null;

  /** Add one chunk of a stream; gives what it adds, `{content, reasoning}`. */
  add(chunk) {
    if (!isObject(chunk)) {
      this.error = new Map([['message', `a chunk is no object: ${shownJson(chunk)}`]]);
      return { content: '', reasoning: '' };
    }
    return this.#read(chunk, 'delta', (fragment) => scanArguments(this.toolCalls, fragment));
  }

  /** The completion of a body that was not streamed. */
  static whole(body) {
    const completion = new Completion();
    if (!isObject(body)) {
      completion.error = new Map([['message', 'the response holds no message']]);
      return completion;
    }
    // Each entry is a call of its own, also where two are equal.
    completion.#read(body, 'message', (entry) => scanArguments(completion.toolCalls, entry, { alone: true }));
    if (!completion.error && !isObject(firstChoice(body)?.get('message'))) {
      completion.error = new Map([['message', 'the response holds no message']]);
    }
    return completion;
  }

  #read(chunk, member, addCall) {
    if (!isEmpty(chunk.get('error'))) this.error = errorObject(chunk.get('error'));
    if (isObject(chunk.get('usage'))) this.usage = chunk.get('usage');
    const choice = firstChoice(chunk);
    this.finishReason = text(choice?.get('finish_reason')) || this.finishReason;
    const message = choice?.get(member);
    if (!isObject(message)) return { content: '', reasoning: '' };
    const added = texts(message);
    this.content += added.content;
    this.reasoning += added.reasoning;
    this.refusal += text(message.get('refusal'));
    const calls = message.get('tool_calls');
    if (isArray(calls)) calls.filter(isObject).forEach(addCall);
    return added;
  }

  toJson() {
    const result = new Map([
      ['content', this.content],
      ['reasoning', this.reasoning],
      ['tool_calls', this.toolCalls.map((call) => new Map([['id', call.id], ['name', call.name], ['arguments', call.arguments]]))],
      ['finish_reason', this.finishReason],
    ]);
    if (this.usage) result.set('usage', this.usage);
    if (this.refusal) result.set('refusal', this.refusal);
    if (this.error) result.set('error', this.error);
    return result;
  }
}

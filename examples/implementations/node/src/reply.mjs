/**
 * The object in what a model wrote: in a reply's text, in the arguments of a tool call, in a whole message.
 *
 * Every reading is `{object, text, repairs, duplicates, problem}`; `object` is null exactly when `problem` is not empty.
 */

import { toText } from './json/write.mjs';
import { argumentsObject } from './reply/arguments.mjs';
import { mend } from './reply/repair.mjs';
import { scanReply } from './reply/scan.mjs';

const none = (problem) => ({ object: null, text: '{}', repairs: [], duplicates: [], problem });
const found = (object, rest) => ({ object, text: toText(object), repairs: [], duplicates: [], problem: '', ...rest });

/** The answer of a reply; with `repair` the last malformed object that can be mended, if there is no valid one. */
export function readReply(text, { repair = false } = {}) {
  const { answer, problem, candidates } = scanReply(text);
  if (answer) return found(answer.object, { text: answer.text, duplicates: answer.duplicates });
  if (repair) {
    for (const { start, end } of candidates.reverse()) {
      const mended = mend(text.slice(start, end));
      if (mended) return found(mended.object, mended);
    }
  }
  return none(problem);
}

/** The arguments of a tool call: no scan is made. */
export function readArguments(text, { repair = false } = {}) {
  const { object, problem, duplicates } = argumentsObject(text);
  if (object !== null) return found(object, { duplicates });
  const mended = repair ? mend(text.replace(/^[ \t\n\r\ufeff]+/, ''), { alone: true }) : null;
  return mended ? found(mended.object, mended) : none(problem);
}

/**
 * The answer of a message `{content, toolCalls: [{name, arguments}]}`: the first call of the name asked for
 * (the first at all when none was), else the text; mending comes after both were read strictly.
 */
export function readMessage({ content, toolCalls }, { tool = null, repair = false } = {}) {
  const call = toolCalls.find(({ name }) => tool === null || name === tool);
  const readers = [(options) => readReply(content, options)];
  if (call) readers.unshift((options) => readArguments(call.arguments, options));
  let problem = null;
  for (const options of repair ? [{}, { repair: true }] : [{}]) {
    for (const read of readers) {
      const reading = read(options);
      if (reading.object !== null) return reading;
      problem ??= reading.problem; // that of the call, where there is one
    }
  }
  return none(problem);
}

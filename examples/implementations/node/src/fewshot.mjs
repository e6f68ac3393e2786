/** `callLlm`: one streamed model call with examples. The model call is its only side effect. */

import { typeError, valueError } from './errors.mjs';
import { isArray, isObject } from './json/values.mjs';

const kindOf = (value) => (value === null ? 'null' : isArray(value) ? 'array' : typeof value);
/** Callers of the language hold plain objects, the protocol Maps; an example may be either. */
const isRecord = (value) => isObject(value) || (kindOf(value) === 'object');
const member = (value, name) => (isObject(value) ? value.get(name) : Object.hasOwn(value, name) ? value[name] : undefined);

function turns(example, index) {
  if (!isRecord(example)) throw valueError(`examples[${index}] is of type ${kindOf(example)}, not an object`);
  const texts = ['input', 'output'].map((name) => {
    const text = member(example, name);
    if (text === undefined) throw valueError(`examples[${index}] has no '${name}'`);
    if (typeof text !== 'string') throw valueError(`examples[${index}]['${name}'] is of type ${kindOf(text)}, not string`);
    return text;
  });
  return [{ role: 'user', content: texts[0] }, { role: 'assistant', content: texts[1] }];
}

/** System, examples, message: built anew for every call, texts never read as templates. */
export function messagesOf(system, message, examples = []) {
  for (const [name, text] of Object.entries({ system, message })) {
    if (typeof text !== 'string') throw typeError(`${name} is of type ${kindOf(text)}, not string`);
  }
  return [
    { role: 'system', content: system },
    ...[...examples].flatMap(turns),
    { role: 'user', content: message },
  ];
}

function blockText(block) {
  if (typeof block === 'string') return block;
  if (!isRecord(block)) return '';
  const type = member(block, 'type');
  const text = member(block, 'text');
  return (type === undefined || type === 'text') && typeof text === 'string' ? text : '';
}

/** The text of a chunk: itself, its content, or the language's way of writing it. */
export function chunkText(chunk) {
  if (typeof chunk === 'string') return chunk;
  const hasContent = chunk !== null && typeof chunk === 'object' && !isArray(chunk) && !isObject(chunk) && 'content' in chunk;
  if (!hasContent) return String(chunk);
  const { content } = chunk;
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (isArray(content)) return content.map(blockText).join('');
  return String(content);
}

function open(model, messages) {
  const isClass = typeof model === 'function' && /^class\b/.test(Function.prototype.toString.call(model));
  const has = (name) => !isClass && model !== null && model !== undefined && typeof model[name] === 'function';
  // Every function of JavaScript has a method `call`, so a function is never taken for a reasoning model.
  if (!has('astream') && (typeof model === 'function' || !has('call'))) {
    throw typeError(`model is ${kindOf(model)}; it needs astream(messages) or call(messages, streaming)`);
  }
  const stream = has('astream') ? model.astream(messages) : model.call(messages, { streaming: true });
  if (!stream || typeof stream[Symbol.asyncIterator] !== 'function') throw typeError('the model gave no asynchronous stream');
  return stream;
}

/** Ask `model` once; every piece goes to `callback` while the rest is on its way; gives the whole reply. */
export async function callLlm(system, model, message, examples = [], callback = null) {
  const messages = messagesOf(system, message, examples);
  if (callback !== null && typeof callback !== 'function') throw typeError('callback cannot be called');
  let reply = '';
  // `for await` closes the stream when the callback throws, and at the end.
  for await (const chunk of open(model, messages)) {
    const text = chunkText(chunk);
    if (callback !== null) await callback(text);
    reply += text;
  }
  return reply;
}

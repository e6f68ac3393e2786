/** Operations on pointers, history, callbacks and the few-shot call. */

import * as callbacks from '../callbacks.mjs';
import { callLlm, messagesOf } from '../fewshot.mjs';
import { extract } from '../history.mjs';
import { isObject, object } from '../json/values.mjs';
import { join, split } from '../pointer.mjs';
import { valueError } from '../errors.mjs';
import { build } from '../records.mjs';

const RECORDS = {
  input: callbacks.CallbackInput, output: callbacks.CallbackOutput, argument: callbacks.ToolArgument, result: callbacks.ToolResult,
};
const CONVERTERS = { input: callbacks.callbackInputFrom, output: callbacks.callbackOutputFrom };

function historyOf(records) {
  return new Map(records.map((record) => build('ExecutorHistory', record)).map((record) => [record.get('stepId'), record]));
}

/** A chunk object of the example lines stands for a chunk that has these members. */
async function* scripted(chunks) {
  for (const chunk of chunks) yield isObject(chunk) ? Object.fromEntries(chunk) : chunk;
}

async function reply(input) {
  const pieces = [];
  const model = { astream: () => scripted(input.get('chunks')) };
  const whole = await callLlm('', model, '', [], (piece) => { pieces.push(piece); });
  return object({ pieces, reply: whole });
}

function recordOf(kind, fields) {
  if (!Object.hasOwn(RECORDS, kind)) throw valueError(`no record of the kind ${kind}`);
  return new RECORDS[kind](fields);
}

/** The fields of a record where a kind is named, else a value as it is. */
function converted(input) {
  const value = input.has('kind') ? recordOf(input.get('kind'), input.get('value')) : input.get('value');
  return CONVERTERS[input.get('to')](value)?.toJson() ?? null;
}

export const basics = {
  'pointer.split': (input) => split(input.get('pointer')),
  'pointer.join': (input) => join(input.get('tokens')),
  'history.extract': (input) => extract(input.get('path'), historyOf(input.get('history'))),
  'callback.record': (input) => recordOf(input.get('kind'), input.get('fields')).toJson(),
  'callback.convert': converted,
  'callback.arguments': (input) => new callbacks.CallbackInput({ arguments_in_json: input.get('text') }).arguments(),
  'callback.extra': (input) => new callbacks.CallbackOutput({ extra: input.get('extra') }).extraAs(input.get('key'), input.get('type')),
  'fewshot.messages': (input) =>
    messagesOf(input.get('system'), input.get('message'), input.get('examples') ?? []).map((message) => object(message)),
  'fewshot.reply': reply,
};

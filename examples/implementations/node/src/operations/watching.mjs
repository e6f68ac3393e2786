/** Operations that watch an order of events: hooks being fired, a few-shot call on its way. */

import { setImmediate as giveWay } from 'node:timers/promises';

import { CallbackHandlers, CallbackInput, CallbackOutput } from '../callbacks.mjs';
import { CallError, Cancelled, ContractError, valueError } from '../errors.mjs';
import { callLlm } from '../fewshot.mjs';
import { isObject, object } from '../json/values.mjs';

const REGISTER = { start: 'onStart', end: 'onEnd', end_with_stream: 'onEndWithStream', error: 'onError' };

async function toldValue(event, given, stops) {
  if (event === 'start') return given.arguments_in_json;
  if (event === 'end') return given.response;
  if (event === 'error') return given.message;
  const responses = [];
  for await (const piece of given) {
    responses.push(piece.response);
    if (stops) break;
  }
  return responses;
}

function hookOf(handlers, told, { event, name, does }) {
  const act = async (given) => {
    if (does === 'waits') {
      told.push([name, 'begins']);
      await giveWay();
    }
    told.push([name, await toldValue(event, given, does === 'stops')]);
    if (does === 'registers') handlers[REGISTER[event]](hookOf(handlers, told, { event, name: `${name}2` }));
    if (does === 'raises') throw valueError(`${name} fails`);
    if (does === 'cancels') throw new Cancelled();
    return new CallbackOutput({ response: 'another' });
  };
  return act;
}

const output = (response) => new CallbackOutput({ response });
const FIRE = {
  start: (handlers, value) => handlers.start(new CallbackInput({ arguments_in_json: value })),
  end: (handlers, value) => handlers.end(output(value)),
  end_with_stream: (handlers, value) => handlers.endWithStream(value.map(output)),
  error: (handlers, value) => handlers.error(new CallError(value)),
};

async function fire(input) {
  const told = [];
  const handlers = new CallbackHandlers();
  for (const hook of input.get('hooks')) {
    const fields = Object.fromEntries(hook);
    const act = hookOf(handlers, told, fields);
    for (let times = Number(fields.times ?? 1); times > 0; times -= 1) handlers[REGISTER[fields.event]](act);
  }
  try {
    for (const fired of input.get('fired')) await FIRE[fired.get('event')](handlers, fired.get('value'));
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    return object({ told, canceled: true });
  }
  return object({ told, canceled: false });
}

function watchedModel(input, order) {
  async function* stream() {
    try {
      for (const chunk of input.get('chunks') ?? []) {
        order.push(['gives', chunk]);
        yield isObject(chunk) ? Object.fromEntries(chunk) : chunk;
      }
      if (input.has('fails')) throw new CallError(input.get('fails'));
    } finally {
      order.push('closed');
    }
  }
  const model = {};
  for (const method of input.get('model')) {
    model[method] = (messages, options = {}) => {
      order.push([method, object(options)]);
      return stream();
    };
  }
  return model;
}

function watchedCallback(kind, order) {
  const plain = (piece) => {
    order.push(['told', piece]);
    if (kind === 'raises') throw valueError('the callback fails');
  };
  if (kind === undefined || kind === null) return null;
  if (kind === 'a text') return 'print';
  if (kind !== 'waits') return plain; // no function counts as false in this language
  return async (piece) => {
    order.push(['begins', piece]);
    await giveWay();
    plain(piece);
  };
}

async function watch(input) {
  const order = [];
  const examples = input.get('examples') ?? [];
  try {
    const reply = await callLlm('s', watchedModel(input, order), 'm', examples, watchedCallback(input.get('callback'), order));
    return object({ reply, error: null, order });
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return object({ reply: null, error: error.kind, order });
  }
}

export const watching = { 'callback.fire': fire, 'fewshot.watch': watch };

/** Operations of the protocol page: calls that really ask an endpoint, and a probe of the lifecycle. */

import { chunk, CoreCall } from '../core.mjs';
import { CallError, ContractError } from '../errors.mjs';
import { object } from '../json/values.mjs';
import { LLM } from '../llm.mjs';
import { Client } from '../provider/client.mjs';
import { Endpoint } from '../provider/endpoint.mjs';
import { FunctionModel, ReasoningModel } from '../provider/models.mjs';
import { Slot } from '../slot.mjs';
import { attributesOf, executorOf } from './scripted.mjs';

function modelsAt(llmBaseUrl) {
  if (!llmBaseUrl) throw new ContractError('unsupported', 'there is no endpoint to ask');
  const client = (model) => new Client(new Endpoint({ base_url: llmBaseUrl, model, api_key: 'conformance', retries: 0n }));
  return { reasoning: new ReasoningModel(client('reasoning')), function: new FunctionModel(client('function'), { mode: 'tools' }) };
}

async function executed(kind, input, { llmBaseUrl }) {
  const call = input.get('call') ?? new Map();
  const executor = executorOf(input.get('vars'), call, { llm: modelsAt(llmBaseUrl) });
  const prepared = await kind.instance(executor, null, attributesOf(call));
  const chunks = [];
  for await (const piece of prepared.exec(executor, prepared.input)) chunks.push(piece);
  return chunks;
}

/** A call that does nothing but note which of its hooks run. */
function probe(input, order) {
  const ran = (name) => {
    order.push(name);
    if (input.get('fails') === name) throw new CallError(`${name} fails`);
  };
  return class Probe extends CoreCall {
    static inputModel = { schema: new Map() };

    static outputModel = { schema: new Map() };

    constructor(fields) {
      super(fields);
      ran('construct');
    }

    async setInput(executor) {
      ran('set_input');
      await super.setInput(executor);
    }

    async _init() { // eslint-disable-line class-methods-use-this
      ran('init');
      return new Map();
    }

    async* _exec() { // eslint-disable-line class-methods-use-this
      let ended = false;
      try {
        order.push('exec');
        for (let i = 0; i < Number(input.get('chunks') ?? 0); i += 1) yield chunk('text', String(i));
        ended = true;
        if (input.get('fails') === 'exec') throw new CallError('exec fails');
      } finally {
        if (!ended) order.push('closed');
      }
    }

    async _afterExec() { // eslint-disable-line class-methods-use-this
      ran('after_exec');
    }
  };
}

async function lifecycle(whole) {
  const input = whole.get('hooks') ?? whole;
  const order = [];
  const stopAfter = input.get('stop_after') ?? null;
  try {
    const executor = executorOf();
    const call = await probe(input, order).instance(executor);
    let taken = 0;
    if (stopAfter === 0n) return object({ order });
    for await (const piece of call.exec(executor, call.input)) { // eslint-disable-line no-unused-vars
      order.push('chunk');
      taken += 1;
      if (stopAfter !== null && taken === Number(stopAfter)) break;
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    order.push('error');
  }
  return object({ order });
}

export const execs = {
  'llm.exec': async (input, context) => object({ chunks: await executed(LLM, input, context) }),
  'slot.exec': async (input, context) => (await executed(Slot, input, context))[0].get('content'),
  'core.lifecycle': lifecycle,
};

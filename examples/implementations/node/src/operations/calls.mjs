/** Operations on calls: building values, the LLM call, the Slot, an executor's run. */

import { CallbackHandlers } from '../callbacks.mjs';
import { assembleVars, CoreCall, overriddenSchema } from '../core.mjs';
import { CallError, Cancelled, ContractError, GenerationError, valueError } from '../errors.mjs';
import { isObject, object } from '../json/values.mjs';
import { LLM } from '../llm.mjs';
import { build, isType } from '../records.mjs';
import { Slot } from '../slot.mjs';
import { attributesOf, down, executorOf, ScriptedFunction, ScriptedReasoning } from './scripted.mjs';

function built(input) {
  if (!isType(input.get('type'))) throw new ContractError('unsupported', `no type ${input.get('type')}`);
  return build(input.get('type'), input.get('value'));
}

const varsOf = (input) => assembleVars({
  task: build('Task', input.get('task')),
  question: input.get('question'),
  background: build('ExecutorBackground', input.get('background')),
});

async function llmCall(input, llm = null) {
  const call = input.get('call') ?? new Map();
  return LLM.instance(executorOf(input.get('vars'), call, { llm }), null, attributesOf(call));
}

async function llmRun(input) {
  let options = null;
  const reasoning = {
    async* call(messages, given) {
      options = given;
      for (const content of input.get('pieces')) yield { content, reasoning: '' };
      if (input.has('fails')) throw new Error(input.get('fails'));
    },
  };
  const call = await llmCall(input, { reasoning, function: null });
  const chunks = [];
  for await (const piece of call.exec(null, input.get('input') ?? call.input)) chunks.push(piece);
  return object({ chunks, options: object(options) });
}

/** The Slot of an example and its models, which must be asked exactly when they have an answer. */
async function slotOf(input) {
  const call = input.get('call') ?? new Map();
  const replies = ['reasoning', 'reasoning_fails'].filter((name) => input.has(name))
    .map((name) => (name === 'reasoning' ? input.get(name) : down(input.get(name))));
  const answers = [];
  if (input.has('function')) answers.push(input.get('function'));
  if (input.has('function_fails')) answers.push(down(input.get('function_fails')));
  if (input.has('function_invalid')) answers.push(new GenerationError('the function model gave no valid object', input.get('function_invalid')));
  const llm = { reasoning: new ScriptedReasoning(replies), function: input.get('no_function') === true ? null : new ScriptedFunction(answers) };
  const executor = executorOf(input.get('vars'), call, { llm });
  return { slot: await Slot.instance(executor, null, attributesOf(call)), llm, replies, answers };
}

async function slotRun(input) {
  const { slot, llm, replies, answers } = await slotOf(input);
  const chunks = [];
  for await (const piece of slot.exec(null, slot.input)) chunks.push(piece);
  if (llm.reasoning.asked.length !== replies.length || (llm.function?.asked.length ?? 0) !== answers.length) throw new Error('a model that has an answer was not asked');
  return { slot, content: chunks[0].get('content') };
}

/** One Slot executed several times, each time with models of its own. */
async function slotRuns(input) {
  const { slot } = await slotOf(input);
  const results = [];
  for (const run of input.get('runs')) {
    const { llm } = await slotOf(new Map([...input, ...run]));
    slot.llm = llm;
    let output;
    for await (const piece of slot.exec(null, run.get('input') ?? slot.input)) output = piece.get('content');
    results.push(object({ output, filled_by: slot.trace.filledBy }));
  }
  return results;
}

async function slotStage1(input) {
  const { slot, llm } = await slotOf(input);
  llm.reasoning.replyMode = input.get('reply_mode') ?? 'text';
  if (llm.function.answers.length === 0) llm.function.answers = [new Map()];
  for await (const piece of slot.exec(null, slot.input)) void piece; // eslint-disable-line no-void
  const { responseSchema, ...options } = llm.reasoning.asked[0].options;
  return object({ ...options, ...(responseSchema ? { response_schema: responseSchema } : {}) });
}

function info(input) {
  const language = input.get('language') ?? 'zh';
  if (!['zh', 'en'].includes(language)) throw valueError(`no language ${language}`);
  const kinds = { LLM, Slot, none: class Bare extends CoreCall {} };
  if (!Object.hasOwn(kinds, input.get('type'))) throw new ContractError('unsupported', `no call ${input.get('type')}`);
  return kinds[input.get('type')].info(language);
}

async function slotTrace(input) {
  const { trace } = (await slotRun(input)).slot;
  const pointers = (entries) => entries.map(({ pointer }) => pointer);
  return object({
    asked: trace.asked, answers: trace.answers, unparsed: trace.unparsed, filled_by: trace.filledBy,
    rejected: pointers(trace.rejected), undeclared: pointers(trace.undeclared),
    ...(input.get('call')?.has('repair') ? { repairs: trace.repairs } : {}),
  });
}

async function slotStage2(input) {
  const { slot, llm, answers } = await slotOf(input);
  if (answers.length === 0) llm.function.answers = [new Map()];
  for await (const piece of slot.exec(null, slot.input)) void piece; // eslint-disable-line no-void
  const [{ messages, schema }] = llm.function.asked;
  return object({ messages: messages.slice(llm.reasoning.asked[0].messages.length), schema });
}

/** A call that does what an example says. */
function scriptedCall(input) {
  const raises = input.get('raises');
  class Prepared extends CoreCall {
    static inputModel = { schema: input.get('schema') ?? object({ type: 'object' }) };

    static outputModel = { schema: new Map() };

    async _init() { // eslint-disable-line class-methods-use-this
      return input.get('input') ?? new Map();
    }
  }
  if (input.get('chunks') === null) return Prepared;
  return class Scripted extends Prepared {
    async* _exec() { // eslint-disable-line class-methods-use-this
      yield* (input.get('chunks') ?? []).map((piece) => build('CallOutputChunk', piece));
      if (isObject(raises)) throw new CallError(raises.get('message'), raises.get('data') ?? new Map());
      if (raises === 'cancel') throw new Cancelled();
      if (raises !== undefined) throw new Error('bug');
    }
  };
}

function recordingHandlers(hooks, extras) {
  const handlers = new CallbackHandlers();
  handlers.onStart((start) => {
    hooks.push(['start', start.arguments_in_json]);
    extras.push(start.extra);
  });
  handlers.onEnd((end) => {
    hooks.push(['end', end.response]);
    extras.push(end.extra);
  });
  handlers.onEndWithStream(async (stream) => {
    const responses = [];
    for await (const piece of stream) {
      responses.push(piece.response);
      extras.push(piece.extra);
    }
    hooks.push(['stream', responses]);
  });
  handlers.onError((error) => { hooks.push(['error', error.message]); });
  return handlers;
}

async function executorRun(input) {
  const hooks = [];
  const extras = [];
  const sink = [];
  const llm = {
    reasoning: new ScriptedReasoning(input.get('replies') ?? []),
    function: new ScriptedFunction((input.get('answers') ?? []).map((answer) => answer ?? down('down'))),
  };
  const receive = (piece) => {
    sink.push(piece);
    if (input.get('sink') === 'raises') throw new Error('the sink fails');
  };
  const executor = executorOf(undefined, object({ name: 'book', description: 'Book a hotel' }), {
    llm, handlers: recordingHandlers(hooks, extras), sink: input.get('sink') === 'none' ? null : receive,
  });
  const node = input.has('override') ? build('NodeInfo', object({ override: input.get('override') })) : null;
  const call = await scriptedCall(input).instance(executor, node, {
    enable_filling: input.get('enable_filling') ?? false, to_user: input.get('to_user') ?? false,
  });
  let raised = false;
  try {
    for (let runs = Number(input.get('runs') ?? 1); runs > 0; runs -= 1) await executor.run(call);
  } catch (error) {
    raised = true;
  }
  const all = {
    status: executor.status, chunks: executor.chunks, input: executor.input, remaining_schema: executor.remainingSchema,
    sink, raised, hooks, extras, requests: [BigInt(llm.reasoning.asked.length), BigInt(llm.function.asked.length)],
  };
  return object(Object.fromEntries(input.get('show').map((name) => [name, all[name]])));
}

export const calls = {
  'schema.override': (input) => overriddenSchema(input.get('schema'), input.get('override') ?? null),
  'schema.overrides': (input) => input.get('overrides').map((override) => overriddenSchema(input.get('schema'), override)),
  'core.info': info,
  'core.build': built,
  'core.vars': varsOf,
  'llm.messages': async (input) => (await llmCall(input)).input.get('message'),
  'llm.run': llmRun,
  'slot.input': async (input) => (await slotOf(input)).slot.input,
  'slot.messages': async (input) => (await slotOf(input)).slot.messages(),
  'slot.run': async (input) => (await slotRun(input)).content,
  'slot.runs': slotRuns,
  'slot.stage1': slotStage1,
  'slot.stage2': slotStage2,
  'slot.trace': slotTrace,
  'executor.run': executorRun,
};

/**
 * The base of every call: a name, an input, a preparation that builds the input, an execution that streams chunks.
 *
 * A subclass names its `inputModel` and `outputModel` as static members, writes `info` and `_init`,
 * may write `_exec` and `_afterExec`, and nothing else.
 */

import { CallError, invalidSchema, notImplemented, typeError, valueError } from './errors.mjs';
import { extract } from './history.mjs';
import { copy, isObject, object } from './json/values.mjs';
import { logError } from './log.mjs';
import { build } from './records.mjs';
import { checkValues, SCHEMA_LIMITS } from './schema/limits.mjs';

/** A model's own schema with an override laid over `properties`; shares nothing with either. */
export function overriddenSchema(schema, override = null) {
  const result = copy(schema);
  if (!isObject(override) || override.size === 0) return result;
  checkValues(override, SCHEMA_LIMITS, invalidSchema);
  const properties = result.get('properties') ?? new Map();
  for (const [name, replacement] of copy(override)) properties.set(name, replacement);
  return result.set('properties', properties);
}

/** The variables of a call, from an executor alone: `{task, question, background}`, JSON objects. */
export function assembleVars({ task, question, background }) {
  const metadata = task.get('metadata');
  const state = task.get('state');
  const runtime = task.get('runtime');
  if (state === null) {
    const message = `task ${metadata.get('id')} has no state`;
    logError(message);
    throw valueError(message);
  }
  const stepData = new Map();
  const stepOrder = [];
  for (const record of task.get('context')) {
    stepData.set(record.get('stepId'), record);
    stepOrder.push(record.get('stepId'));
  }
  const ids = object({
    task_id: metadata.get('id'),
    executor_id: state.get('executorId'),
    session_id: runtime.get('sessionId'),
    user_id: metadata.get('userId'),
    app_id: state.get('appId'),
    conversation_id: metadata.get('conversationId'),
  });
  return object({
    language: runtime.get('language'), ids, question, step_data: stepData, step_order: stepOrder, background,
    thinking: runtime.get('reasoning') ?? '', now: runtime.get('now'),
  });
}

/** Without the fields that are null; fields are what the model's schema declares, nulls deeper down are data. */
function givenFields(input, schema) {
  const fields = schema.get('properties') ?? new Map();
  return new Map([...input].filter(([name, value]) => value !== null || !fields.has(name)));
}

export const chunk = (type, content) => object({ type, content });

/** The records of the last `size` places of the step order, oldest first. "The last 0" is none. */
export function lastSteps(vars, size) {
  const order = vars.get('step_order');
  return order.slice(Math.max(0, order.length - Number(size))).map((id) => vars.get('step_data').get(id));
}

export class CoreCall {
  static inputModel = null;

  static outputModel = null;

  /** Whether tools for users leave it out. */
  static hidden = false;

  /** The type of `records.mjs` whose fields are this call's attributes. */
  static attributes = null;

  static extractHistoryVariables = extract;

  static info() {
    throw notImplemented(`${this.name}.info is not implemented`);
  }

  constructor(fields) {
    // JavaScript has no hook for a class that is defined, so the first instance is where a missing model shows.
    if (!this.constructor.inputModel || !this.constructor.outputModel) {
      throw typeError(`${this.constructor.name} has to name its inputModel and outputModel`);
    }
    const { attributes } = this.constructor;
    const given = new Map(Object.entries(fields));
    if (attributes) Object.assign(this, Object.fromEntries(build(attributes, given)));
    else {
      for (const name of ['name', 'description']) if (typeof given.get(name) !== 'string') throw valueError(`${name} is missing`);
      Object.assign(this, { node: null, enable_filling: false, to_user: false, ...fields });
    }
    // Working state of one execution: part of no dump.
    Object.defineProperty(this, 'input', { value: new Map(), writable: true, enumerable: false });
    Object.defineProperty(this, 'llm', { value: null, writable: true, enumerable: false });
  }

  /** The call of the step an executor stands at, its input ready. */
  static async instance(executor, node = null, extra = {}) {
    for (const name of ['name', 'description', 'node']) if (name in extra) throw typeError(`${name} is the step's, not an argument`);
    const { step } = executor;
    const call = new this({ ...extra, name: step.get('name'), description: step.get('description'), node });
    await call.setInput(executor);
    return call;
  }

  async setInput(executor) {
    this.llm = executor.llm;
    this.input = givenFields(copy(await this._init(assembleVars(executor))), this.constructor.inputModel.schema);
  }

  /** The input of the call, a JSON object, from the variables. */
  async _init() {
    throw notImplemented(`${this.constructor.name}._init is not implemented`);
  }

  async* _exec() { // eslint-disable-line class-methods-use-this
    yield chunk('text', '');
  }

  async _afterExec() {} // eslint-disable-line class-methods-use-this

  /** Every chunk of `_exec` as it comes, then clean-up; leaving early ends `_exec` and skips the clean-up. */
  async* exec(executor, inputData) {
    yield* this._exec(inputData);
    await this._afterExec(inputData);
  }

  extractHistoryVariables(path, history) { // eslint-disable-line class-methods-use-this
    return extract(path, history);
  }

  /** The reasoning model's reply, piece by piece, null as the empty string. */
  async* _llm(messages, { streaming = false, ...options } = {}) {
    for await (const piece of this.llm.reasoning.call(messages, { streaming, ...options })) yield piece.content ?? '';
  }

  /** An object of the function model that satisfies the schema. */
  async _json(messages, schema) {
    if (!this.llm.function) {
      const message = `no function model is configured, call '${this.name}' needs one`;
      logError(message);
      throw new CallError(message);
    }
    return this.llm.function.call(messages, schema);
  }
}

/** An executor stands at one step of a task and runs its call: fill, execute, record, tell. */

import { CallbackHandlers, CallbackInput, CallbackOutput } from './callbacks.mjs';
import { chunk, overriddenSchema } from './core.mjs';
import { CallError, Cancelled } from './errors.mjs';
import { jsonForm } from './json/form.mjs';
import { copy, equal, isObject, object } from './json/values.mjs';
import { toText } from './json/write.mjs';
import { logError } from './log.mjs';
import { Slot } from './slot.mjs';

/** What was filled, merged deep; a value that did not change as JSON stays in its own form. */
function mergedInput(input, filled) {
  if (!isObject(input) || !isObject(filled)) return equal(jsonForm(input), filled) ? input : copy(filled);
  const result = new Map(input);
  for (const [name, member] of filled) result.set(name, result.has(name) ? mergedInput(result.get(name), member) : copy(member));
  return result;
}

/** Without the nulls that the schema does not admit: they are not among what the Slot knows. */
function withoutNulls(input, known) {
  if (Array.isArray(input)) return input.map((item, index) => withoutNulls(item, known?.[index]));
  if (!isObject(input) || !isObject(known)) return input;
  const kept = [...input].filter(([name, member]) => member !== null || known.has(name));
  return new Map(kept.map(([name, member]) => [name, withoutNulls(member, known.get(name))]));
}

const outputText = (content) => (typeof content === 'string' ? content : toText(jsonForm(content)));

export class Executor {
  status = null;

  chunks = [];

  input = new Map();

  remainingSchema = new Map();

  /** `task`, `background`, `step` are JSON objects of `records.mjs`; `llm` is `{reasoning, function}`. */
  constructor({ task, question, background, step, llm, handlers = new CallbackHandlers(), sink = null }) {
    Object.assign(this, { task, question, background, step, llm, handlers, sink });
  }

  /** The status the run ended with; a call error becomes one ERROR chunk, any other error passes. */
  async run(call) {
    Object.assign(this, { status: 'running', chunks: [], remainingSchema: new Map(), input: call.input });
    let started = false;
    try {
      if (call.enable_filling) {
        await this.#fill(call);
        if (this.remainingSchema.size > 0) {
          this.status = 'param';
          return this.status;
        }
      }
      const extra = object({ name: call.name, description: call.description });
      const start = new CallbackInput({ arguments_in_json: toText(jsonForm(this.input)), extra });
      started = true;
      await this.handlers.start(start);
      for await (const piece of call.exec(this, this.input)) await this.#emit(call, piece);
      const responses = this.chunks.map((piece) => outputText(piece.get('content')));
      await this.handlers.end(new CallbackOutput({ response: responses.join(''), extra }));
      await this.handlers.endWithStream(responses.map((response) => new CallbackOutput({ response, extra })));
      this.status = 'success';
    } catch (error) {
      this.status = 'error';
      if (started && !(error instanceof Cancelled)) await this.handlers.error(error);
      if (!(error instanceof CallError)) throw error;
      logError(`call ${call.name} failed: ${error.message}`);
      await this.#emit(call, chunk('error', object({ message: error.message, data: error.data })));
    }
    return this.status;
  }

  /** The Slot runs as a call of its own and leaves no trace in the output. */
  async #fill(call) {
    const schema = overriddenSchema(call.constructor.inputModel.schema, call.node?.get('override'));
    const slot = await Slot.instance(this, call.node, { data: jsonForm(call.input), current_schema: schema });
    for await (const piece of slot.exec(this, slot.input)) {
      const content = piece.get('content');
      this.input = mergedInput(withoutNulls(call.input, slot.known), content.get('slot_data'));
      this.remainingSchema = content.get('remaining_schema');
      call.input = this.input;
    }
  }

  async #emit(call, piece) {
    this.chunks.push(piece);
    if (call.to_user && this.sink) await this.sink(piece);
  }
}

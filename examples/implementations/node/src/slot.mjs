/**
 * `Slot`: fills the arguments of a tool, in two stages.
 *
 * The reasoning model first, with one large prompt; then, only if something is still missing or wrong, the function model,
 * for that alone. Known data are facts and are never overwritten.
 */

import { chunk, CoreCall, lastSteps } from './core.mjs';
import { GenerationError } from './errors.mjs';
import { copy, isObject, object } from './json/values.mjs';
import { toText } from './json/write.mjs';
import { clockText, message, plainTurn, renderPrompt, shownJson, shownStep } from './prompting.mjs';
import { MISSING_PROMPTS, SLOT_PROMPTS } from './prompts.mjs';
import { readReply } from './reply.mjs';
import { SlotProcessor } from './schema/processor.mjs';

const INFO = {
  zh: { name: '参数自动填充', description: '根据步骤历史和背景信息，自动填充工具的参数。' },
  en: { name: 'Slot', description: "Fill a tool's parameters from step history and background." },
};
const OBJECT = object({ type: 'object' });

const output = (slotData, remaining) => object({ slot_data: slotData, remaining_schema: remaining });

/** How the output of a run came about. */
class Trace {
  asked = false;

  answers = new Map();

  unparsed = [];

  filledBy = new Map();

  rejected = [];

  undeclared = [];

  repairs = [];
}

export class Slot extends CoreCall {
  static attributes = 'Slot';

  static inputModel = { schema: object({ type: 'object', properties: object({ remaining_schema: OBJECT }) }) };

  static outputModel = { schema: object({ type: 'object', properties: object({ slot_data: OBJECT, remaining_schema: OBJECT }) }) };

  static hidden = true;

  #vars = null;

  #processor = null;

  #known = null;

  trace = new Trace();

  static info(language = 'zh') {
    return object(INFO[language]);
  }

  /** The known arguments as they were prepared. */
  get known() {
    return this.#known;
  }

  /** Summary and facts are the executor's unless the caller gives them. */
  static instance(executor, node = null, extra = {}) {
    const summary = executor.task.get('runtime').get('reasoning') ?? '';
    return super.instance(executor, node, { summary, facts: executor.background.get('facts'), ...extra });
  }

  async _init(vars) {
    this.#vars = vars;
    this.#processor = new SlotProcessor(this.current_schema);
    this.#known = this.#processor.known(this.data);
    return object({ remaining_schema: this.#processor.check(this.#known) });
  }

  async* _exec(inputData) {
    this.trace = new Trace();
    yield chunk('data', await this.#fill(inputData.get('remaining_schema') ?? new Map()));
  }

  async #fill(remaining) {
    const isComplete = remaining.size === 0;
    if (isComplete && !this.ask_optional) return output(new Map(), new Map());
    if (this.#ask(this.#known).schema.size === 0) return output(isComplete ? new Map() : copy(this.#known), remaining);
    this.trace.asked = true;
    const messages = this.messages();
    const [reply, first] = await this._llmSlotFill(messages);
    let known = this.#merge('stage1', this.#known, first);
    const asked = this.#ask(known);
    if (asked.schema.size > 0) known = this.#merge('stage2', known, await this._functionSlotFill(this.#talk(messages, reply, known, asked), this.#titled(asked.schema)));
    return output(known, this.#processor.check(known));
  }

  #ask(known) {
    return this.#processor.ask(known, { optional: this.ask_optional });
  }

  #merge(stage, known, reply) {
    const merged = this.#processor.merge(known, reply);
    for (const pointer of merged.filled) this.trace.filledBy.set(pointer, stage);
    this.trace.rejected.push(...merged.rejected);
    this.trace.undeclared.push(...merged.undeclared);
    return merged.data;
  }

  /** The messages of stage 1: the conversation, and the prompt as one turn of the user. */
  messages() {
    const vars = this.#vars;
    const language = vars.get('language');
    const now = vars.get('now');
    const prompt = renderPrompt('slot prompt', this.prompt ?? SLOT_PROMPTS[language], {
      time: now === null ? '' : clockText(now),
      summary: this.summary,
      facts: this.facts,
      question: vars.get('question'),
      history: lastSteps(vars, this.step_num).map(shownStep),
      tool: object({ name: this.name, description: this.description }),
      schema: shownJson(this.current_schema),
      known: this.#known.size === 0 ? '' : shownJson(this.#known),
      language,
    });
    return [...vars.get('background').get('conversation').map(plainTurn), message('user', prompt)];
  }

  /** Stage 2 goes on with the talk and ends on a user's turn. */
  #talk(messages, reply, known, { missing, schema }) {
    const request = renderPrompt('slot prompt', MISSING_PROMPTS[this.#vars.get('language')], {
      missing: missing.join(', '),
      known: toText(known),
      schema: toText(this.#titled(schema)),
    });
    // Servers refuse an empty turn.
    return [...messages, message('assistant', /^\p{White_Space}*$/u.test(reply) ? '{}' : reply), message('user', request)];
  }

  /** Function models name the tool after the title. */
  #titled(schema) {
    const rest = [...copy(schema)].filter(([name]) => name !== 'title' && name !== 'description');
    return new Map([['title', this.name], ['description', this.description], ...rest]);
  }

  #read(stage, text) {
    const { object: found, repairs } = readReply(text, { repair: this.repair });
    this.trace.repairs.push(...repairs);
    if (found === null) this.trace.unparsed.push(stage);
    return found ?? new Map();
  }

  /** `[reply, object]` of the reasoning model. */
  async _llmSlotFill(messages) {
    const mode = this.llm.reasoning.replyMode ?? 'text';
    const bound = mode === 'text' ? {} : { responseSchema: this.#titled(this.current_schema) };
    let reply = '';
    for await (const piece of this._llm(messages, { streaming: true, ...bound })) reply += piece;
    this.trace.answers.set('stage1', reply);
    return [reply, this.#read('stage1', reply)];
  }

  /** The object of the function model; what an invalid last answer held is better than nothing. */
  async _functionSlotFill(messages, schema) {
    try {
      const answer = await this._json(messages, schema);
      this.trace.answers.set('stage2', toText(answer));
      return answer;
    } catch (error) {
      if (!(error instanceof GenerationError)) throw error;
      const answer = error.data.get('answer') ?? '';
      const held = error.data.get('object');
      this.trace.answers.set('stage2', answer);
      return isObject(held) && held.size > 0 ? held : this.#read('stage2', answer);
    }
  }
}

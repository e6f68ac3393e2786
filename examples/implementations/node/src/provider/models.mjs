/** The two roles: the reasoning model gives text, the function model an object that satisfies a schema. */

import { GenerationError, valueError } from '../errors.mjs';
import { jsonForm } from '../json/form.mjs';
import { object } from '../json/values.mjs';
import { readMessage } from '../reply.mjs';
import { SlotProcessor } from '../schema/processor.mjs';
import { modeParams, replyParams, toldMessages, toolName } from './modes.mjs';

export class ReasoningModel {
  constructor(client, { replyMode = 'text' } = {}) {
    Object.assign(this, { client, replyMode });
  }

  /** `{content, reasoning}` piece by piece; without streaming exactly one. */
  async* call(messages, { streaming = false, temperature, responseSchema } = {}) {
    const params = replyParams(this.replyMode, responseSchema);
    if (temperature !== undefined && temperature !== null) params.set('temperature', temperature);
    yield* this.client.stream(messages, streaming, params);
  }
}

const AGAIN = {
  zh: (reason) => `上面的输出不正确，缺少或不符合要求的字段：${reason}。请重新只输出一个JSON对象。`,
  en: (reason) => `That output is not right, these are missing or invalid: ${reason}. Output only one JSON object again.`,
};

/** The generator is given messages, not a task: the language is that of the last one. */
function languageOf(messages) {
  const content = messages.at(-1)?.get('content');
  const letter = typeof content === 'string' ? /\p{L}/u.exec(content)?.[0] : undefined;
  return letter && /[\u4e00-\u9fff]/.test(letter) && !/[\u3040-\u30ff]/.test(content) ? 'zh' : 'en';
}

const lines = (texts) => texts.filter((text) => text.trim() !== '').join('\n');

/** What the model said, to be shown back; servers refuse an empty turn. */
const said = ({ content, toolCalls }) => lines([content, ...toolCalls.map((call) => call.arguments)]) || '{}';

/** The last answer of one that gave up: the content, and the first call of its tool; other calls are no part of it. */
const answered = ({ content, toolCalls }, tool) => lines([content, toolCalls.find((call) => call.name === tool)?.arguments ?? '']);

/** The model has said that it does not know: nulls in place of basic values are all that is wrong. */
const isUnknown = (answer, processor) => new SlotProcessor(processor.addNull()).places(answer).length === 0;

export class FunctionModel {
  constructor(client, { mode = 'json_schema', trials = 3n } = {}) {
    if (Number(trials) < 1) throw valueError('trials is less than 1');
    Object.assign(this, { client, mode, trials: Number(trials) });
  }

  async call(messages, schema) {
    const processor = new SlotProcessor(schema);
    const params = modeParams(this.mode, schema);
    const given = jsonForm(messages);
    const language = languageOf(given);
    const talk = toldMessages(this.mode, given, schema, language);
    for (let trial = 1; ; trial += 1) {
      const completion = await this.client.complete([...talk], params);
      const reading = readMessage(completion, { tool: toolName(schema) });
      const answer = reading.object === null ? null : processor.process(reading.object);
      const places = answer === null ? [] : processor.places(answer);
      if (answer !== null && places.length === 0) return answer;
      const reason = answer === null ? reading.problem : places.map(({ pointer }) => pointer).join(', ');
      if (trial === this.trials || (answer !== null && isUnknown(reading.object, processor))) {
        throw new GenerationError(`the function model gave no valid object: ${reason}`, object({ answer: answered(completion, toolName(schema)), object: answer ?? new Map() }));
      }
      talk.push(object({ role: 'assistant', content: said(completion) }), object({ role: 'user', content: AGAIN[language](reason) }));
    }
  }
}

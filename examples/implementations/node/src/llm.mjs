/** `LLM`: puts a question to the reasoning model, with what the task knows, and streams the reply. */

import { CallError, Cancelled, ContractError, errorText } from './errors.mjs';
import { chunk, CoreCall, lastSteps } from './core.mjs';
import { object } from './json/values.mjs';
import { clockText, message, plainTurn, renderPrompt, shownStep, wallClock } from './prompting.mjs';
import { CONTEXT_PROMPTS, DEFAULT_PROMPTS, NO_CONTEXT } from './prompts.mjs';
import { build } from './records.mjs';

const INFO = {
  zh: { name: '大模型', description: '以指定的提示词和上下文信息调用大模型，并获得输出。' },
  en: { name: 'LLM', description: 'Call the model with the given prompt and context information.' },
};

const MODEL_SCHEMA = {
  schema: object({
    type: 'object',
    properties: object({ message: object({ type: 'array', items: object({ type: 'object', additionalProperties: object({ type: 'string' }) }) }) }),
    required: ['message'],
  }),
};

export class LLM extends CoreCall {
  static attributes = 'LLM';

  static inputModel = MODEL_SCHEMA;

  static outputModel = { schema: object({ type: 'object', properties: new Map() }) };

  static info(language = 'zh') {
    return object(INFO[language]);
  }

  constructor(fields) {
    super(fields);
    // The attribute's default is Chinese; a task in another language must not get it.
    Object.defineProperty(this, 'ownPrompt', { value: fields.user_prompt !== undefined, enumerable: false });
  }

  async _init(vars) {
    return object({ message: this.messages(vars) });
  }

  /** Conversation, system, user. */
  messages(vars) {
    const language = vars.get('language');
    const context = this.#context(vars, language);
    const conversation = vars.get('background').get('conversation');
    const history = conversation.slice(Math.max(0, conversation.length - Number(this.history_length))).map(plainTurn);
    const variables = {
      time: vars.get('now') === null ? wallClock() : clockText(vars.get('now')),
      question: vars.get('question'),
      context,
      history,
      language,
      reasoning: vars.get('thinking'),
    };
    const system = renderPrompt('system prompt', this.system_prompt, variables);
    const user = renderPrompt('user prompt', this.ownPrompt ? this.user_prompt : DEFAULT_PROMPTS[language], variables);
    return [...history, message('system', system), message('user', user)];
  }

  #context(vars, language) {
    const steps = lastSteps(vars, this.step_history_size);
    const thinking = vars.get('thinking');
    if (thinking === '' && steps.length === 0) return NO_CONTEXT[language];
    return renderPrompt('context prompt', CONTEXT_PROMPTS[language], { reasoning: thinking, context_data: steps.map(shownStep) }).trim();
  }

  async* _exec(inputData) {
    const messages = this.#readInput(inputData);
    try {
      for await (const text of this._llm(messages, { streaming: true, temperature: this.temperature })) {
        if (text !== '') yield chunk('text', text);
      }
    } catch (error) {
      if (error instanceof CallError || error instanceof Cancelled) throw error;
      throw new CallError(`the model call of '${this.name}' failed: ${errorText(error)}`, new Map(), { cause: error });
    }
  }

  #readInput(inputData) {
    try {
      return build('LLMInput', inputData).get('message');
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      throw new CallError(`the input of '${this.name}' cannot be sent: ${error.message}`);
    }
  }
}

/** Executors and models as the example lines script them. */

import { CallError } from '../errors.mjs';
import { Executor } from '../executor.mjs';
import { isArray, object } from '../json/values.mjs';
import { build } from '../records.mjs';

/** A reasoning model that yields texts, or the pieces of one; being asked for more replies than there are is an error. */
export class ScriptedReasoning {
  asked = [];

  constructor(replies) {
    this.replies = replies;
  }

  async* call(messages, options) {
    const reply = this.replies[this.asked.length];
    this.asked.push({ messages, options });
    if (reply === undefined) throw new Error('the reasoning model was not to be asked');
    if (reply instanceof Error) throw reply;
    for (const content of isArray(reply) ? reply : [reply]) yield { content, reasoning: '' };
  }
}

/** A function model that gives objects, or fails with an error in their place. */
export class ScriptedFunction {
  asked = [];

  constructor(answers) {
    this.answers = answers;
  }

  async call(messages, schema) {
    const answer = this.answers[this.asked.length];
    this.asked.push({ messages, schema });
    if (answer === undefined) throw new Error('the function model was not to be asked');
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

export const down = (text) => new CallError(text);

/** The executor of the variables of an example: `language`, `question`, `steps`, `conversation`, … */
export function executorOf(vars = new Map(), call = new Map(), rest = {}) {
  const runtime = new Map([['language', vars.get('language') ?? 'zh'], ['reasoning', vars.get('thinking') ?? null], ['now', vars.get('now') ?? null]]);
  const task = build('Task', object({
    metadata: object({ id: 'task', userId: 'user' }),
    state: object({ executorId: 'executor' }),
    runtime,
    context: vars.get('steps') ?? [],
  }));
  const background = build('ExecutorBackground', object({ conversation: vars.get('conversation') ?? [], facts: vars.get('facts') ?? [] }));
  const step = object({ name: call.get('name') ?? 'step', description: call.get('description') ?? '' });
  return new Executor({ task, question: vars.get('question') ?? '', background, step, llm: { reasoning: null, function: null }, ...rest });
}

/** The attributes of `call` beside the step's. */
export function attributesOf(call = new Map()) {
  const { name, description, ...attributes } = Object.fromEntries(call);
  return attributes;
}

/** How a model is bound to a schema: by parameters of the request, or by words. */

import { valueError } from '../errors.mjs';
import { copy, object } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { SlotProcessor } from '../schema/processor.mjs';
import { strictSchema } from './strict.mjs';

export const MODES = ['json_schema', 'tools', 'json_object', 'prompt'];
const DEFAULT_NAME = 'fill_parameters';
const SENTENCES = {
  zh: '只输出一个符合以下JSON Schema的JSON对象：',
  en: 'Output only one JSON object that satisfies this JSON Schema:',
};

/** A name that endpoints accept, from the schema's title. */
export function toolName(schema) {
  const title = schema.get('title');
  const name = typeof title === 'string' ? title.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '').slice(0, 64) : '';
  return name || DEFAULT_NAME;
}

const bound = (schema) => object({
  response_format: object({
    type: 'json_schema', json_schema: object({ name: toolName(schema), strict: true, schema: strictSchema(schema) }),
  }),
});

function tools(schema) {
  const name = toolName(schema);
  const description = schema.get('description');
  const tool = new Map([['name', name], ...(description ? [['description', description]] : []), ['parameters', copy(schema)]]);
  return object({
    tools: [object({ type: 'function', function: tool })],
    tool_choice: object({ type: 'function', function: object({ name }) }),
  });
}

/** The request's parameters in a mode; `invalid_schema` in every mode. */
export function modeParams(mode, schema) {
  if (!MODES.includes(mode)) throw valueError(`no mode ${mode}`);
  new SlotProcessor(schema); // eslint-disable-line no-new
  if (mode === 'json_schema') return bound(schema);
  if (mode === 'tools') return tools(schema);
  return mode === 'json_object' ? object({ response_format: object({ type: 'json_object' }) }) : new Map();
}

/** The parameters by which a reply in text is bound. */
export function replyParams(replyMode, schema) {
  if (!schema || replyMode === 'text') return new Map();
  if (replyMode === 'json_object') return object({ response_format: object({ type: 'json_object' }) });
  if (replyMode === 'json_schema') return bound(schema);
  throw valueError(`no reply mode ${replyMode}`);
}

/** The messages with the schema told in words, where no parameter binds the answer to it. */
export function toldMessages(mode, messages, schema, language) {
  if (mode !== 'json_object' && mode !== 'prompt') return [...messages];
  const words = `${SENTENCES[language]}\n${toText(schema)}`;
  const last = messages.at(-1);
  if (last?.get('role') !== 'user') return [...messages, object({ role: 'user', content: words })];
  return [...messages.slice(0, -1), new Map([...last, ['content', `${last.get('content')}\n\n${words}`]])];
}

/**
 * The values that travel through a call, each built from a JSON object: checked, defaults written out.
 *
 * A type is a list of fields, `[name, check, default]`; without a default a field is required.
 * Records stay JSON objects: they are shown to templates and written into logs as they are.
 */

import { valueError } from './errors.mjs';
import { stepId } from './history.mjs';
import { copy, isArray, isInteger, isNumber, isObject } from './json/values.mjs';
import { DEFAULT_PROMPTS, SYSTEM_PROMPT } from './prompts.mjs';

const REQUIRED = Symbol('required');

const refuse = (place, what) => {
  throw valueError(`${place} has to be ${what}`);
};

const string = (value, place) => (typeof value === 'string' ? value : refuse(place, 'a string'));
const boolean = (value, place) => (typeof value === 'boolean' ? value : refuse(place, 'a boolean'));
const integer = (value, place) => (isNumber(value) && isInteger(value) ? BigInt(value) : refuse(place, 'an integer'));
const object = (value, place) => (isObject(value) ? copy(value) : refuse(place, 'an object'));
const orNull = (check) => (value, place) => (value === null ? null : check(value, place));
const list = (check) => (value, place) =>
  isArray(value) ? value.map((item, index) => check(item, `${place}[${index}]`)) : refuse(place, 'an array');
const oneOf = (...names) => (value, place) => (names.includes(value) ? value : refuse(place, `one of ${names.join(', ')}`));
const content = (value, place) => (typeof value === 'string' ? value : isObject(value) ? copy(value) : refuse(place, 'a string or an object'));
const between = (low, high) => (value, place) => {
  const number = integer(value, place);
  return number >= low && (high === null || number <= high) ? number : refuse(place, `an integer from ${low}${high === null ? '' : ` to ${high}`}`);
};
const finite = (value, place) => (isNumber(value) && Number.isFinite(Number(value)) ? value : refuse(place, 'a finite number'));
const strings = (value, place) => {
  for (const [name, member] of object(value, place)) string(member, `${place}.${name}`);
  return copy(value);
};
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const time = (value, place) => (typeof value === 'string' && TIME.test(value) ? value : refuse(place, 'a time in ISO 8601'));

/** A conversation record: role and content, and more string members if there are. */
function record(value, place) {
  const result = strings(value, place);
  for (const name of ['role', 'content']) if (!result.has(name)) throw valueError(`${place} has no ${name}`);
  return result;
}

const of = (type) => (value, place) => build(type, value, place);
const language = oneOf('zh', 'en');

const CALL = (toUser) => [
  ['name', string, REQUIRED], ['description', string, REQUIRED], ['node', orNull(of('NodeInfo')), null],
  ['enable_filling', boolean, false], ['to_user', boolean, toUser],
];

const TYPES = {
  CallInfo: [['name', string, REQUIRED], ['description', string, REQUIRED]],
  CallOutputChunk: [['type', oneOf('text', 'data', 'error'), REQUIRED], ['content', content, REQUIRED]],
  CallIds: [
    ['task_id', string, REQUIRED], ['executor_id', string, REQUIRED], ['session_id', orNull(string), null],
    ['user_id', string, REQUIRED], ['app_id', orNull(string), null], ['conversation_id', orNull(string), null],
  ],
  CallVars: [
    ['language', language, REQUIRED], ['ids', of('CallIds'), REQUIRED], ['question', string, REQUIRED],
    ['step_data', (value, place) => new Map([...object(value, place)].map(([id, item]) => [stepId(id), build('ExecutorHistory', item, place)])), REQUIRED],
    ['step_order', (value, place) => list(string)(value, place).map(stepId), REQUIRED],
    ['background', of('ExecutorBackground'), REQUIRED], ['thinking', string, REQUIRED], ['now', orNull(time), null],
  ],
  ExecutorHistory: [
    ['stepId', (value, place) => stepId(string(value, place)), REQUIRED], ['outputData', object, REQUIRED],
    ['stepName', string, ''], ['stepDescription', string, ''],
  ],
  ExecutorBackground: [['num', integer, 0n], ['conversation', list(record), []], ['facts', list(string), []]],
  NodeInfo: [['id', string, ''], ['name', string, ''], ['description', string, ''], ['override', orNull(object), null]],
  StepInfo: [['name', string, REQUIRED], ['description', string, '']],
  TaskMetadata: [['id', string, REQUIRED], ['userId', string, REQUIRED], ['conversationId', orNull(string), null]],
  TaskState: [['executorId', string, REQUIRED], ['appId', orNull(string), null]],
  TaskRuntime: [['language', language, 'zh'], ['sessionId', orNull(string), null], ['reasoning', orNull(string), null], ['now', orNull(time), null]],
  Task: [
    ['metadata', of('TaskMetadata'), REQUIRED], ['state', orNull(of('TaskState')), null],
    ['runtime', of('TaskRuntime'), new Map()], ['context', list(of('ExecutorHistory')), []],
  ],
  LLM: [
    ...CALL(true), ['temperature', finite, 0.7], ['step_history_size', between(0n, 10n), 3n], ['history_length', between(0n, null), 0n],
    ['system_prompt', string, SYSTEM_PROMPT], ['user_prompt', string, DEFAULT_PROMPTS.zh],
  ],
  LLMInput: [['message', list(strings), REQUIRED]],
  LLMOutput: [],
  Slot: [
    ...CALL(false), ['data', object, new Map()], ['current_schema', object, new Map()], ['summary', string, ''], ['facts', list(string), []],
    ['step_num', between(0n, null), 1n], ['ask_optional', boolean, false], ['repair', boolean, false], ['prompt', orNull(string), null],
  ],
  SlotInput: [['remaining_schema', object, new Map()]],
  SlotOutput: [['slot_data', object, new Map()], ['remaining_schema', object, new Map()]],
};

/** Types that keep the members they do not declare. */
const OPEN = ['ExecutorHistory', 'NodeInfo', 'LLM', 'Slot'];

export const isType = (type) => Object.hasOwn(TYPES, type);

/** The value of a named type; a `value_error` names the field that cannot be. */
export function build(type, value, place = type) {
  if (!isObject(value)) refuse(place, 'an object');
  const result = new Map();
  for (const [name, check, fallback] of TYPES[type]) {
    if (value.has(name)) result.set(name, check(value.get(name), `${place}.${name}`));
    else if (fallback === REQUIRED) throw valueError(`${place} has no ${name}`);
    else result.set(name, check(fallback, `${place}.${name}`));
  }
  if (OPEN.includes(type)) for (const [name, member] of value) if (!result.has(name)) result.set(name, copy(member));
  return result;
}

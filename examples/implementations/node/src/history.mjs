/**
 * Paths into earlier steps.
 *
 * A flow must not stop because a path is wrong: whatever is wrong gives null and one line in the log.
 */

import { isArray, isObject } from './json/values.mjs';
import { logError } from './log.mjs';

const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** A step id in its one spelling: what spells a UUID is written in lower case, all else stays. */
export const stepId = (id) => (UUID.test(id) ? id.toLowerCase() : id);

/** Longer digits cannot index any array, and would only make a slow number. */
const INDEX = /^(?:0|[1-9][0-9]{0,14})$/;

const nothing = (message) => {
  logError(message);
  return null;
};

function find(step, history) {
  if (!(history instanceof Map)) return undefined;
  if (history.has(step)) return history.get(step);
  for (const [id, record] of history) if (typeof id === 'string' && stepId(id) === step) return record;
  return undefined;
}

/** The value at `path` in `history`, a Map of step ids to records; never raises. */
export function extract(path, history) {
  if (typeof path !== 'string' || path === '') return nothing(`history path ${shown(path)} is not a non-empty string`);
  const [first, ...keys] = path.split('/');
  const record = find(stepId(first), history);
  if (!isObject(record) || !record.has('outputData')) {
    return nothing(`history path ${shown(path)}: no step ${shown(first)} in the history`);
  }
  let value = record.get('outputData');
  for (const key of keys) {
    if (isObject(value) && value.has(key)) value = value.get(key);
    else if (isArray(value) && INDEX.test(key) && Number(key) < value.length) value = value[Number(key)];
    else return nothing(`history path ${shown(path)}: nothing at key ${shown(key)}`);
  }
  return value;
}

const shown = (value) => {
  const text = typeof value === 'string' ? `'${value}'` : String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

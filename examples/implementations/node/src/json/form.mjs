/** The JSON form of values of the language: dates, plain objects, numbers that JSON does not have. */

import { valueError } from '../errors.mjs';
import { isArray, isObject } from './values.mjs';

const MAX_DEPTH = 254;

/** A JSON value for whatever a Call's input or output held; a `value_error` for what cannot be written at all. */
export function jsonForm(value, depth = 1) {
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (value === null || ['string', 'boolean', 'bigint', 'number'].includes(typeof value)) return value;
  if (value === undefined) return null;
  if (depth > MAX_DEPTH) throw valueError(`a value nests beyond ${MAX_DEPTH} levels`);
  if (isArray(value)) return value.map((item) => jsonForm(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  const isPlain = typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!isObject(value) && !isPlain) return String(value);
  const entries = isObject(value) ? [...value] : Object.entries(value);
  return new Map(entries.map(([name, member]) => [String(name), jsonForm(member, depth + 1)]));
}

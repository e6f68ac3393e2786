/** The arguments of a tool call: one JSON object and nothing else; blank and `null` are the object without members. */

import { JsonError, readJsonWithDuplicates } from '../json/read.mjs';
import { isArray, isObject } from '../json/values.mjs';

/** How a JSON value that should have been an object is called. */
export function kindWords(value) {
  if (value === null) return 'JSON null';
  if (isArray(value)) return 'a JSON array';
  if (typeof value === 'bigint') return 'a JSON number';
  return `a JSON ${typeof value}`;
}

/** `{object, problem, duplicates}`: `object` is null exactly when `problem` says why. */
export function argumentsObject(text) {
  if (/^[ \t\n\r\ufeff]*(?:null[ \t\n\r\ufeff]*)?$/.test(text)) return { object: new Map(), problem: '', duplicates: [] };
  try {
    const { value, duplicates } = readJsonWithDuplicates(text);
    if (isObject(value)) return { object: value, problem: '', duplicates };
    return { object: null, problem: `the arguments are ${kindWords(value)}, not an object`, duplicates: [] };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { object: null, problem: `the arguments are malformed: ${error.message}`, duplicates: [] };
  }
}

/** What data and schemas may hold at most. */

import { isArray, isContainer, isObject } from '../json/values.mjs';
import { escapeToken } from '../pointer.mjs';

const TOO_LARGE = 2n ** 14000n;

/** Throws `error(pointer, reason)` at the first value that is no JSON or beyond the limits. */
export function checkValues(value, maxDepth, error, pointer = '', depth = 1) {
  if (typeof value === 'bigint' && (value >= TOO_LARGE || value <= -TOO_LARGE)) throw error(pointer, 'an integer of more than 14,000 bits');
  if (typeof value === 'number' && !Number.isFinite(value)) throw error(pointer, `${value} is not JSON`);
  if (value === null || ['string', 'boolean', 'number', 'bigint'].includes(typeof value)) return;
  if (!isContainer(value)) throw error(pointer, `a ${typeof value} is not JSON`);
  if (depth > maxDepth) throw error(pointer, `nested deeper than ${maxDepth}`);
  if (isArray(value)) value.forEach((item, index) => checkValues(item, maxDepth, error, `${pointer}/${index}`, depth + 1));
  if (!isObject(value)) return;
  for (const [name, member] of value) {
    if (typeof name !== 'string') throw error(pointer, 'a name that is no string');
    checkValues(member, maxDepth, error, `${pointer}/${escapeToken(name)}`, depth + 1);
  }
}

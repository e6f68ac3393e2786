/** What data and schemas may hold at most. */

import { isArray, isContainer, isObject } from '../json/values.mjs';
import { escapeToken } from '../pointer.mjs';

const TOO_LARGE = 2n ** 14000n;

/**
 * Throws `error(pointer, reason)` for what is no JSON or beyond the limits. What stands in several places counts in each,
 * so a value of few objects in memory may be too large.
 */
export function checkValues(root, { maxDepth, maxContainers }, error) {
  let containers = 0;
  const check = (value, pointer, depth) => {
    if (typeof value === 'bigint' && (value >= TOO_LARGE || value <= -TOO_LARGE)) throw error(pointer, 'an integer of more than 14,000 bits');
    if (typeof value === 'number' && !Number.isFinite(value)) throw error(pointer, `${value} is not JSON`);
    if (value === null || ['string', 'boolean', 'number', 'bigint'].includes(typeof value)) return;
    if (!isContainer(value)) throw error(pointer, `a ${typeof value} is not JSON`);
    if (depth > maxDepth) throw error(pointer, `nested deeper than ${maxDepth}`);
    containers += 1;
    if (containers > maxContainers) throw error('', `more than ${maxContainers} arrays and objects`);
    if (isArray(value)) value.forEach((item, index) => check(item, `${pointer}/${index}`, depth + 1));
    if (!isObject(value)) return;
    for (const [name, member] of value) {
      if (typeof name !== 'string') throw error(pointer, 'a name that is no string');
      check(member, `${pointer}/${escapeToken(name)}`, depth + 1);
    }
  };
  check(root, '', 1);
}

export const DATA_LIMITS = { maxDepth: 100, maxContainers: 250_000 };
export const SCHEMA_LIMITS = { maxDepth: 250, maxContainers: 50_000 };

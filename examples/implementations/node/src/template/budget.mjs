/**
 * What a rendering may take: a template of twenty characters can ask for more than any machine has.
 *
 * Rendering is synchronous, so the allowance of the one that runs is kept here while it runs, and only then.
 */

import { isArray, isObject } from '../json/values.mjs';
import { TemplateError } from './lex.mjs';

const MAX_STEPS = 200_000;
const MAX_CHARACTERS = 10_000_000;
const MAX_DEPTH = 250;
const MAX_BITS = 14_000;
/** Macros and recursive loops in one another; a recursion without end must not first fill the stack. */
const MAX_NESTED = 400;

let current = null;

/** Runs one rendering with an allowance of its own. */
export function withBudget(run) {
  const outer = current;
  current = { steps: MAX_STEPS, characters: MAX_CHARACTERS, nested: 0 };
  try {
    return run();
  } finally {
    current = outer;
  }
}

export function step(count = 1) {
  current.steps -= count;
  if (current.steps < 0) throw new TemplateError(`more than ${MAX_STEPS} steps`);
}

/** Runs the body of a macro or of a deeper loop. */
export function nested(run) {
  if (current.nested >= MAX_NESTED) throw new TemplateError(`macros or loops nested deeper than ${MAX_NESTED}`);
  current.nested += 1;
  try {
    return run();
  } finally {
    current.nested -= 1;
  }
}

/** To be asked before what has this many characters is made. */
export function characters(count) {
  current.characters -= Math.max(0, count);
  if (!(current.characters >= 0)) throw new TemplateError(`more than ${MAX_CHARACTERS} characters`);
}

/** Charges a value that was made or is kept: a list for its items at all depths, however few there are in memory. */
export function made(value, depth = 0) {
  if (typeof value === 'string') characters(value.length);
  else if (isArray(value) || isObject(value)) {
    if (depth >= MAX_DEPTH) throw new TemplateError(`a list nested deeper than ${MAX_DEPTH}`);
    characters(isArray(value) ? value.length : value.size);
    for (const item of value.values()) if (typeof item !== 'string') made(item, depth + 1);
  }
  return value;
}

const bits = (number) => (number < 0n ? -number : number).toString(16).length * 4;

/** Refuses integers that would be too large, before they are computed. */
export function product(a, b) {
  if (bits(a) + bits(b) > MAX_BITS + 8) throw new TemplateError(`an integer of more than ${MAX_BITS} bits`);
  return bounded(a * b);
}

export function power(a, b) {
  const isSmall = a >= -1n && a <= 1n;
  if (!isSmall && (b > BigInt(MAX_BITS) || (bits(a) - 4) * Number(b) > MAX_BITS)) throw new TemplateError(`an integer of more than ${MAX_BITS} bits`);
  return isSmall ? (a === -1n && b % 2n === 0n ? 1n : b === 0n ? 1n : a) : bounded(a ** b);
}

const LIMIT = 2n ** BigInt(MAX_BITS);

export function bounded(number) {
  if (number >= LIMIT || number <= -LIMIT) throw new TemplateError(`an integer of more than ${MAX_BITS} bits`);
  return number;
}

/** How values behave in templates: truth, printing, attributes, arithmetic. Templates cannot reach the host. */

import { equal, isArray, isNumber, isObject } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { bounded, characters, made, power, product } from './budget.mjs';
import { format, percent } from './format.mjs';
import { TemplateError } from './lex.mjs';

/** What does not exist; any use but `is defined` and `default` is an error. */
export class Undefined {
  constructor(what) {
    this.what = what;
  }

  refuse() {
    throw new TemplateError(`'${this.what}' is undefined`);
  }
}

export const used = (value) => (value instanceof Undefined ? value.refuse() : value);

export function isTrue(value) {
  used(value);
  if (isArray(value)) return value.length > 0;
  if (isObject(value)) return value.size > 0;
  return Boolean(value);
}

export function print(value) {
  used(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'function') throw new TemplateError('a function cannot be printed');
  if (value instanceof Namespace) return 'namespace';
  return toText(value);
}

/** Where a template may keep values across loops; the one thing it can change. */
export class Namespace {
  members = new Map();
}

export function iterate(value) {
  used(value);
  if (isArray(value)) return value;
  if (isObject(value)) return [...value.keys()];
  if (typeof value === 'string') return [...value];
  throw new TemplateError(`a ${kind(value)} cannot be gone through`);
}

export const kind = (value) => (value === null ? 'null' : isArray(value) ? 'list' : isObject(value) ? 'object' : typeof value === 'bigint' ? 'integer' : typeof value);

const splitBlank = (text) => text.split(/\s+/).filter(Boolean);
const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
const strip = (text, chars, left, right) => {
  const isStripped = (char) => (chars === undefined || chars === null ? /\s/.test(char) : chars.includes(char));
  let start = 0;
  let end = text.length;
  while (left && start < end && isStripped(text[start])) start += 1;
  while (right && end > start && isStripped(text[end - 1])) end -= 1;
  return text.slice(start, end);
};

/** Lengths are known before anything is made. */
export function joined(texts, separator) {
  characters(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

export function replaced(text, from, to) {
  characters(text.length + (text.split(from).length - 1) * to.length);
  return text.replaceAll(from, () => to);
}

/** `left` says how much of the space stands before the text. */
export function aligned(text, width, fill, left) {
  characters(Math.max(text.length, Number(width)));
  const space = Math.max(0, Number(width) - [...text].length);
  return fill.repeat(Math.floor(space * left)) + text + fill.repeat(Math.ceil(space * (1 - left)));
}

export const title = (text) => text.replace(/\p{L}[\p{L}\p{M}]*/gu, capitalize);

const STRING_METHODS = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  capitalize,
  title,
  strip: (text, chars) => strip(text, chars, true, true),
  lstrip: (text, chars) => strip(text, chars, true, false),
  rstrip: (text, chars) => strip(text, chars, false, true),
  split: (text, separator = null, limit = -1n) => {
    const parts = separator === null ? splitBlank(text) : text.split(separator);
    const max = Number(limit);
    return max < 0 || separator === null ? parts : [...parts.slice(0, max), ...(parts.length > max ? [parts.slice(max).join(separator)] : [])];
  },
  splitlines: (text) => text.split(/\r\n|\n|\r/).filter((line, index, all) => line !== '' || index < all.length - 1),
  replace: replaced,
  center: (text, width, fill = ' ') => aligned(text, width, fill, 0.5),
  ljust: (text, width, fill = ' ') => aligned(text, width, fill, 0),
  rjust: (text, width, fill = ' ') => aligned(text, width, fill, 1),
  zfill: (text, width) => aligned(text, width, '0', 1),
  startswith: (text, start) => [start].flat().some((s) => text.startsWith(s)),
  endswith: (text, end) => [end].flat().some((s) => text.endsWith(s)),
  find: (text, part) => BigInt(text.indexOf(part)),
  count: (text, part) => BigInt(text.split(part).length - 1),
  join: (text, items) => joined(iterate(items).map(print), text),
  isdigit: (text) => /^\p{Nd}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isupper: (text) => text !== text.toLowerCase() && text === text.toUpperCase(),
  islower: (text) => text !== text.toUpperCase() && text === text.toLowerCase(),
};
const OBJECT_METHODS = {
  items: (object) => [...object].map(([name, value]) => [name, value]),
  keys: (object) => [...object.keys()],
  values: (object) => [...object.values()],
  get: (object, name, fallback = null) => (object.has(name) ? object.get(name) : fallback),
};
const LIST_METHODS = {
  index: (list, item) => {
    const at = list.findIndex((other) => equal(other, item));
    if (at < 0) throw new TemplateError('the item is not in the list');
    return BigInt(at);
  },
  count: (list, item) => BigInt(list.filter((other) => equal(other, item)).length),
};

const methods = (value) => (typeof value === 'string' ? STRING_METHODS : isObject(value) ? OBJECT_METHODS : isArray(value) ? LIST_METHODS : {});

export function attribute(value, name) {
  used(value);
  if (name.startsWith('_')) throw new TemplateError(`access to ${name} is not allowed`);
  if (value instanceof Namespace) return value.members.has(name) ? value.members.get(name) : new Undefined(name);
  if (typeof value === 'function' && value.members instanceof Map) return attribute(value.members, name);
  const own = methods(value);
  // As in Jinja, a method goes before a member of the same name; `x['items']` finds the member.
  if (typeof value === 'string' && name === 'format') return (args, named = {}) => format(value, args.map(used), named);
  if (Object.hasOwn(own, name)) return (args) => made(own[name](value, ...args.map(used)));
  if (isObject(value) && value.has(name)) return value.get(name);
  return new Undefined(`${kind(value)} has no ${name}`);
}

export function item(value, index) {
  used(value);
  used(index);
  if (isObject(value)) return value.has(index) ? value.get(index) : new Undefined(String(index));
  if (typeof index === 'bigint' && (isArray(value) || typeof value === 'string')) {
    const found = (isArray(value) ? value : [...value]).at(Number(index));
    return found === undefined ? new Undefined(`item ${index}`) : found;
  }
  return typeof index === 'string' ? attribute(value, index) : new Undefined(String(index));
}

export function slice(value, start, stop, step) {
  const list = typeof used(value) === 'string' ? [...value] : isArray(value) ? value : null;
  if (!list) throw new TemplateError(`a ${kind(value)} cannot be sliced`);
  const by = step === null ? 1 : Number(step);
  if (by === 0) throw new TemplateError('a slice by 0');
  const bound = (index, fallback) => {
    if (index === null) return fallback;
    const n = Number(index) < 0 ? Number(index) + list.length : Number(index);
    return by > 0 ? Math.min(Math.max(n, 0), list.length) : Math.min(Math.max(n, -1), list.length - 1);
  };
  const out = [];
  const end = bound(stop, by > 0 ? list.length : -1);
  for (let i = bound(start, by > 0 ? 0 : list.length - 1); by > 0 ? i < end : i > end; i += by) out.push(list[i]);
  return typeof value === 'string' ? out.join('') : out;
}

const floorDiv = (a, b) => {
  const quotient = a / b;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
};

const INTEGER = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': product,
  '/': (a, b) => Number(a) / Number(b),
  '//': floorDiv,
  '%': (a, b) => a - floorDiv(a, b) * b,
  '**': (a, b) => (b < 0n ? Number(a) ** Number(b) : power(a, b)),
};
const FLOAT = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => a - Math.floor(a / b) * b,
  '**': (a, b) => a ** b,
};

function repeated(value, times) {
  const count = Math.max(0, Number(times));
  characters(count * value.length);
  return typeof value === 'string' ? value.repeat(count) : Array.from({ length: count }, () => value).flat();
}

const sound = (number) => (typeof number === 'bigint' ? bounded(number) : number);

export function arithmetic(op, left, right) {
  const a = typeof used(left) === 'boolean' ? BigInt(left) : left;
  const b = typeof used(right) === 'boolean' ? BigInt(right) : right;
  if (isNumber(a) && isNumber(b)) {
    if (['/', '//', '%'].includes(op) && Number(b) === 0) throw new TemplateError('division by zero');
    return typeof a === 'bigint' && typeof b === 'bigint' ? sound(INTEGER[op](a, b)) : FLOAT[op](Number(a), Number(b));
  }
  if (op === '%' && typeof a === 'string') return percent(a, b);
  if (op === '+' && typeof a === 'string' && typeof b === 'string') return joined([a, b], '');
  if (op === '+' && isArray(a) && isArray(b)) return made([...a, ...b]);
  if (op === '*' && (typeof a === 'string' || isArray(a)) && typeof b === 'bigint') return repeated(a, b);
  throw new TemplateError(`unsupported operands for ${op}: ${kind(a)} and ${kind(b)}`);
}

export function contains(container, value) {
  if (typeof used(container) === 'string') return container.includes(String(used(value)));
  if (isObject(container)) return container.has(value);
  if (isArray(container)) return container.some((other) => equal(other, value));
  throw new TemplateError(`a ${kind(container)} holds nothing`);
}

/** -1, 0 or 1 of two numbers, strings or lists. */
export function order(a, b) {
  if ((isNumber(a) && isNumber(b)) || (typeof a === 'string' && typeof b === 'string') || (typeof a === 'boolean' && typeof b === 'boolean')) {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (isArray(a) && isArray(b)) {
    for (let i = 0; i < Math.min(a.length, b.length); i += 1) if (order(a[i], b[i]) !== 0) return order(a[i], b[i]);
    return Math.sign(a.length - b.length);
  }
  throw new TemplateError(`${kind(a)} and ${kind(b)} have no order`);
}

/** The filters, tests and functions that templates have. */

import { equal, isArray, isNumber, isObject } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { bounded, characters, made, step } from './budget.mjs';
import { percent } from './format.mjs';
import { TemplateError } from './lex.mjs';
import { aligned, attribute, contains, isTrue, item, iterate, joined, Namespace, order, print, replaced, title, Undefined, used } from './values.mjs';

/** `a.b.0` as the argument of `map`, `sort` and their kin. */
function reach(value, path) {
  if (typeof path === 'bigint') return item(value, path);
  return path.split('.').reduce((at, name) => (/^[0-9]+$/.test(name) ? item(at, BigInt(name)) : isObject(at) && at.has(name) ? at.get(name) : attribute(at, name)), value);
}

const lowered = (value) => (typeof value === 'string' ? value.toLowerCase() : value);

function sorted(list, { reverse = false, case_sensitive: exact = false, attribute: path } = {}) {
  const keyOf = (value) => (path === undefined ? value : reach(value, path));
  const by = (value) => (exact ? keyOf(value) : lowered(keyOf(value)));
  const result = [...iterate(list)].sort((a, b) => order(used(by(a)), used(by(b))));
  return isTrue(reverse) ? result.reverse() : result;
}

function extreme(list, sign, { attribute: path } = {}) {
  const items = iterate(list);
  if (items.length === 0) return new Undefined('the item of an empty list');
  const by = (value) => lowered(path === undefined ? value : reach(value, path));
  return items.reduce((best, value) => (order(by(value), by(best)) * sign > 0 ? value : best));
}

function indented(value, pad, margin = '\n') {
  const inner = margin + pad;
  const list = (items, open, close) => (items.length === 0 ? open + close : open + inner + items.join(`,${inner}`) + margin + close);
  if (isArray(value)) return list(value.map((each) => indented(each, pad, inner)), '[', ']');
  if (isObject(value)) return list([...value].map(([name, member]) => `${toText(name)}: ${indented(member, pad, inner)}`), '{', '}');
  return toText(value);
}

/** UTF-8 keeps the order of code points, which UTF-16 does not. */
const byCodePoints = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** As Jinja writes it: ASCII, members sorted, safe inside HTML. */
function tojson(value, indent = null) {
  if (indent !== null && indent > 8n) throw new TemplateError('an indentation of more than 8');
  const sort = (v) => (isArray(v) ? v.map(sort) : isObject(v) ? new Map([...v].sort(([a], [b]) => byCodePoints(a, b)).map(([n, m]) => [n, sort(m)])) : v);
  const json = indent === null ? toText(sort(value)) : indented(sort(value), ' '.repeat(Number(indent)));
  return json.replace(/[<>&'\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const text = (value) => print(value);

function toInteger(value, fallback = 0n) {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return BigInt(value);
  if (typeof value === 'number') return BigInt(Math.trunc(value));
  const trimmed = String(value).trim();
  if (/^[+-]?[0-9]+$/.test(trimmed)) return trimmed.length > 4300 ? bounded(2n ** 14000n) : bounded(BigInt(trimmed.replace('+', '')));
  const number = Number(trimmed);
  return trimmed !== '' && Number.isFinite(number) ? BigInt(Math.trunc(number)) : fallback;
}

function round(value, precision = 0n, method = 'common') {
  if (precision > 300n || precision < -300n) throw new TemplateError('a rounding to more than 300 places');
  const factor = 10 ** Number(precision);
  const scaled = Number(value) * factor;
  if (method === 'ceil') return Math.ceil(scaled) / factor;
  if (method === 'floor') return Math.floor(scaled) / factor;
  const low = Math.floor(scaled);
  const half = scaled - low === 0.5;
  return (half ? low + (low % 2 === 0 ? 0 : 1) : Math.round(scaled)) / factor;
}

function truncate(value, length = 255n, killwords = false, end = '...', leeway = 5n) {
  const chars = [...text(value)];
  const max = Number(length);
  if (chars.length <= max + Number(leeway)) return chars.join('');
  const cut = chars.slice(0, max - end.length).join('');
  return (killwords ? cut : cut.includes(' ') ? cut.slice(0, cut.lastIndexOf(' ')) : cut) + end;
}

function batch(value, size, fill) {
  const items = iterate(value);
  const rows = [];
  for (let i = 0; i < items.length; i += Number(size)) rows.push(items.slice(i, i + Number(size)));
  if (fill !== undefined && rows.length > 0) while (rows.at(-1).length < Number(size)) rows.at(-1).push(fill);
  return rows;
}

function unique(value) {
  const result = [];
  for (const each of iterate(value)) if (!result.some((other) => equal(lowered(other), lowered(each)))) result.push(each);
  return result;
}

const selectBy = (wanted, getter) => (value, args) =>
  iterate(value).filter((each) => {
    const [first, ...rest] = getter ? args.slice(1) : args;
    const subject = getter ? reach(each, args[0]) : each;
    const found = first === undefined ? isTrue(subject) : test(first, subject, rest);
    return found === wanted;
  });

function map(value, args, named) {
  if (named.attribute !== undefined) {
    return iterate(value).map((each) => {
      const found = reach(each, named.attribute);
      return found instanceof Undefined && named.default !== undefined ? named.default : found;
    });
  }
  return iterate(value).map((each) => filter(args[0], each, args.slice(1), {}));
}

/** `(value, args, named)`; arguments may be given by position or by name. */
const named = (names, run) => (value, args, byName) => run(used(value), ...names.map((name, index) => (args[index] !== undefined ? args[index] : byName[name])));

const FILTERS = {
  abs: named([], (value) => (value < 0 ? -value : value)),
  batch: named(['linecount', 'fill_with'], batch),
  capitalize: named([], (value) => text(value).charAt(0).toUpperCase() + text(value).slice(1).toLowerCase()),
  center: named(['width'], (value, width = 80n) => aligned(text(value), width, ' ', 0.5)),
  default: (value, [fallback = '', falsy = false], byName) => {
    const instead = byName.default_value ?? fallback;
    return value instanceof Undefined || ((byName.boolean ?? falsy) && !isTrue(value)) ? instead : value;
  },
  dictsort: named(['case_sensitive', 'by', 'reverse'], (value, exact = false, by = 'key', reverse = false) =>
    sorted([...value], { attribute: by === 'key' ? 0n : 1n, case_sensitive: exact, reverse })),
  escape: named([], (value) => text(value).replace(/[&<>"']/g, (char) => HTML[char])),
  first: named([], (value) => iterate(value)[0] ?? new Undefined('the first item of nothing')),
  float: named(['default'], (value, fallback = 0) => (String(value).trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : fallback)),
  indent: named(['width', 'first', 'blank'], (value, width = 4n, first = false, blank = false) => {
    characters(text(value).length + text(value).split('\n').length * (typeof width === 'string' ? width.length : Number(width)));
    const pad = typeof width === 'string' ? width : ' '.repeat(Number(width));
    return text(value).split('\n').map((line, i) => ((i === 0 ? first : line !== '' || blank) ? pad + line : line)).join('\n');
  }),
  int: named(['default'], toInteger),
  items: named([], (value) => [...value]),
  join: named(['d', 'attribute'], (value, separator = '', path = undefined) =>
    joined(iterate(value).map((each) => text(path === undefined ? each : reach(each, path))), separator)),
  last: named([], (value) => iterate(value).at(-1) ?? new Undefined('the last item of nothing')),
  length: named([], (value) => BigInt(iterate(value).length)),
  list: named([], (value) => [...iterate(value)]),
  lower: named([], (value) => text(value).toLowerCase()),
  map,
  max: (value, args, byName) => extreme(value, 1, byName),
  min: (value, args, byName) => extreme(value, -1, byName),
  reject: selectBy(false, false),
  rejectattr: selectBy(false, true),
  replace: named(['old', 'new'], (value, from, to) => replaced(text(value), from, to)),
  format: (value, args, byName) => percent(text(value), args.length > 0 ? args : new Map(Object.entries(byName))),
  reverse: named([], (value) => (typeof value === 'string' ? [...value].reverse().join('') : [...iterate(value)].reverse())),
  round: named(['precision', 'method'], round),
  safe: named([], (value) => value),
  select: selectBy(true, false),
  selectattr: selectBy(true, true),
  sort: (value, [reverse, exact, path], byName) => sorted(value, { reverse, case_sensitive: exact, attribute: path, ...byName }),
  string: named([], text),
  sum: named(['attribute', 'start'], (value, path, start = 0n) =>
    iterate(value).map((each) => (path === undefined ? each : reach(each, path))).reduce((a, b) => (typeof a === typeof b ? a + b : Number(a) + Number(b)), start)),
  title: named([], (value) => title(text(value))),
  tojson: named(['indent'], tojson),
  trim: named(['chars'], (value, chars) => attribute(text(value), 'strip')(chars === undefined ? [] : [chars])),
  truncate: named(['length', 'killwords', 'end', 'leeway'], truncate),
  unique: named([], unique),
  upper: named([], (value) => text(value).toUpperCase()),
  urlencode: named([], (value) => encodeURIComponent(text(value))),
  wordcount: named([], (value) => BigInt(text(value).split(/\s+/).filter(Boolean).length)),
};
Object.assign(FILTERS, { d: FILTERS.default, e: FILTERS.escape, count: FILTERS.length });

const TESTS = {
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => typeof value === 'function',
  divisibleby: (value, by) => BigInt(value) % BigInt(by) === 0n,
  eq: (value, other) => equal(value, used(other)),
  even: (value) => BigInt(value) % 2n === 0n,
  false: (value) => value === false,
  filter: (value) => Object.hasOwn(FILTERS, value),
  float: (value) => typeof value === 'number',
  ge: (value, other) => order(value, other) >= 0,
  gt: (value, other) => order(value, other) > 0,
  in: (value, container) => contains(container, value),
  integer: (value) => typeof value === 'bigint',
  iterable: (value) => isArray(value) || isObject(value) || typeof value === 'string',
  le: (value, other) => order(value, other) <= 0,
  lower: (value) => text(value) === text(value).toLowerCase(),
  lt: (value, other) => order(value, other) < 0,
  mapping: isObject,
  ne: (value, other) => !equal(value, used(other)),
  none: (value) => value === null,
  number: isNumber,
  odd: (value) => BigInt(value) % 2n !== 0n,
  sameas: (value, other) => value === other,
  sequence: (value) => isArray(value) || isObject(value) || typeof value === 'string',
  string: (value) => typeof value === 'string',
  true: (value) => value === true,
  upper: (value) => text(value) === text(value).toUpperCase(),
};
Object.assign(TESTS, { equalto: TESTS.eq, greaterthan: TESTS.gt, lessthan: TESTS.lt });

export function test(name, value, args) {
  if (name === 'defined') return !(value instanceof Undefined);
  if (name === 'undefined') return value instanceof Undefined;
  if (!Object.hasOwn(TESTS, name)) throw new TemplateError(`no test named '${name}'`);
  return TESTS[name](used(value), ...args.map(used));
}

export function filter(name, value, args, byName) {
  if (!Object.hasOwn(FILTERS, name)) throw new TemplateError(`no filter named '${name}'`);
  step();
  return made(FILTERS[name](value, args, byName));
}

const MAX_RANGE = 100_000;

function range([first, second, step = 1n]) {
  const [start, stop] = second === undefined ? [0n, first] : [first, second];
  if (step === 0n) throw new TemplateError('a range by 0');
  const count = Number((stop - start + step - (step > 0n ? 1n : -1n)) / step);
  if (count > MAX_RANGE) throw new TemplateError(`a range of more than ${MAX_RANGE} numbers`);
  return Array.from({ length: Math.max(0, count) }, (_, index) => start + step * BigInt(index));
}

/** Functions take `(args, named)`. */
export const FUNCTIONS = {
  range,
  dict: (args, byName) => new Map([...(args[0] ?? []), ...Object.entries(byName)]),
  namespace: (args, byName) => Object.assign(new Namespace(), { members: new Map([...(args[0] ?? []), ...Object.entries(byName)]) }),
  joiner: ([separator = ', ']) => {
    let isFirst = true;
    return () => {
      const joined = isFirst ? '' : separator;
      isFirst = false;
      return joined;
    };
  },
};


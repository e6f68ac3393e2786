/**
 * The tags by which the protocol says what JSON cannot: big integers, whole floats, bytes, half surrogates.
 *
 * Only the six names are tags: a schema's `{"$ref": "#"}` has one member that begins with `$`, too.
 */

import { isArray, isObject } from './values.mjs';

const DECODERS = {
  $int: (text) => BigInt(text),
  $float: (text) => Number(text),
  $bytes: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  $string: (pieces) => pieces.map((p) => (typeof p === 'string' ? p : String.fromCharCode(Number(p)))).join(''),
  $members: (pairs) => new Map(pairs.map(([name, value]) => [decode(name), decode(value)])),
  $object: (value) => members(value, decode),
};

const members = (value, change) => new Map([...value].map(([name, member]) => [name, change(member)]));

/** `input` itself is never a tag. */
export const decodeMembers = (input) => members(input, decode);

export function decode(value) {
  if (isArray(value)) return value.map(decode);
  if (!isObject(value)) return value;
  if (value.size === 1) {
    const [[name, member]] = value;
    if (Object.hasOwn(DECODERS, name)) return DECODERS[name](member);
  }
  return members(value, decode);
}

const tagged = (name, value) => new Map([[name, value]]);

/** A string with half surrogates, as whole pieces and the numbers of the halves. */
function pieces(text) {
  const result = [];
  for (const char of text) {
    const half = char.length === 1 && !char.isWellFormed();
    if (half) result.push(BigInt(char.charCodeAt(0)));
    else if (typeof result.at(-1) === 'string') result[result.length - 1] += char;
    else result.push(char);
  }
  return result;
}

const SAFE = 2n ** 53n - 1n;

export function encode(value) {
  if (typeof value === 'string') return value.isWellFormed() ? value : tagged('$string', pieces(value));
  if (typeof value === 'bigint' && (value > SAFE || value < -SAFE)) return tagged('$int', value.toString());
  if (typeof value === 'number' && Number.isInteger(value)) {
    return tagged('$float', Object.is(value, -0) ? '-0.0' : value.toFixed(1));
  }
  if (value instanceof Uint8Array) return tagged('$bytes', Buffer.from(value).toString('base64'));
  if (isArray(value)) return value.map(encode);
  if (!isObject(value)) return value;
  const encoded = new Map([...value].map(([name, member]) => [name, encode(member)]));
  if ([...value.keys()].some((name) => !name.isWellFormed())) return tagged('$members', [...encoded].map(([name, member]) => [encode(name), member]));
  return value.size === 1 && Object.hasOwn(DECODERS, [...value.keys()][0]) ? tagged('$object', encoded) : encoded;
}

/**
 * JSON values as this port holds them.
 *
 * An integer is a `bigint`, any other number a `number`: so `1` and `1.0` stay two writings of one value
 * and no digit is lost. An object is a `Map`: a plain JavaScript object would sort names such as "0" and "10"
 * before all others, and the contract speaks of the order of members. The rest are JavaScript's own values.
 */

export const isObject = (value) => value instanceof Map;
export const isArray = Array.isArray;
export const isInteger = (value) => typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
export const isNumber = (value) => typeof value === 'bigint' || typeof value === 'number';
export const isString = (value) => typeof value === 'string';
export const isContainer = (value) => isObject(value) || isArray(value);

/** A JSON object of the members of a plain object, values as they are. */
export const object = (members = {}) => new Map(Object.entries(members));

/** The name of a value's JSON type; an integer written without fraction is `integer`. */
export function typeName(value) {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (typeof value === 'bigint') return 'integer';
  return typeof value;
}

/** A copy that shares no container. */
export function copy(value) {
  if (isArray(value)) return value.map(copy);
  if (isObject(value)) {
    const result = new Map();
    for (const [name, member] of value) result.set(name, copy(member));
    return result;
  }
  return value;
}

/** How deep a value nests: a scalar 0, a container one more than the deepest in it. */
export function depth(value) {
  if (!isContainer(value)) return 0;
  let deepest = 0;
  for (const member of value.values()) deepest = Math.max(deepest, depth(member));
  return deepest + 1;
}

const numberKey = (value) => (Number.isInteger(value) ? BigInt(value).toString() : String(value));

/** A text that two values share exactly when they are equal as JSON: `1` is `1.0`, `true` is not `1`. */
export function key(value) {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
      return value.toString();
    case 'number':
      return numberKey(value);
    default:
  }
  if (isArray(value)) return `[${value.map(key).join(',')}]`;
  if (isObject(value)) {
    const members = [...value].map(([name, member]) => `${JSON.stringify(name)}:${key(member)}`);
    return `{${members.sort().join(',')}}`;
  }
  return String(value);
}

/** Equality as JSON, at any depth. */
export function equal(a, b) {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return a == b; // eslint-disable-line eqeqeq -- exact between bigint and number
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (!isObject(a) || !isObject(b) || a.size !== b.size) return false;
  for (const [name, member] of a) if (!b.has(name) || !equal(member, b.get(name))) return false;
  return true;
}

/** Writing JSON text: not ASCII-escaped, integers in full, `1.0` with its fraction. */

import { isArray, isObject } from './values.mjs';

const numberText = (value) => {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
};

function write(value, comma, colon) {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return numberText(value);
    default:
  }
  if (value === null) return 'null';
  if (isArray(value)) return `[${value.map((item) => write(item, comma, colon)).join(comma)}]`;
  if (isObject(value)) {
    const members = [...value].map(([name, member]) => JSON.stringify(name) + colon + write(member, comma, colon));
    return `{${members.join(comma)}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}

/** One line, with a blank after each comma and colon: the form that models and handlers are shown. */
export const toText = (value) => write(value, ', ', ': ');

/** Without blanks: the form that goes over a wire. */
export const toCompact = (value) => write(value, ',', ':');

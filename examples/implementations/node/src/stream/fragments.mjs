/** Which tool call a fragment belongs to: endpoints differ in what they send with each piece. */

import { isInteger, isObject } from '../json/values.mjs';
import { JsonError, readJson } from '../json/read.mjs';
import { toText } from '../json/write.mjs';

function isWhole(text) {
  try {
    return isObject(readJson(text));
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

const argumentsText = (value) => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : toText(value);
};

/** The newest call at the fragment's index goes on, unless the fragment says that it begins another one. */
function atIndex(calls, { index, id, name }) {
  const call = calls.findLast((other) => other.index === index);
  if (!call) return null;
  if (id) return call.id && call.id !== id ? null : call;
  if (name && call.arguments && (name !== call.name || isWhole(call.arguments))) return null;
  return call;
}

function without(calls, { id, name }) {
  if (id) return calls.find((call) => call.id === id) ?? null;
  return name ? null : calls.at(-1) ?? null;
}

/** Add a fragment to `calls`; `alone` when each entry is a call of its own. */
export function scanArguments(calls, entry, { alone = false } = {}) {
  const part = isObject(entry.get('function')) ? entry.get('function') : new Map();
  const id = entry.get('id');
  const fragment = {
    index: isInteger(entry.get('index')) ? Number(entry.get('index')) : null,
    id: typeof id === 'string' && id !== 'null' ? id : '',
    name: typeof part.get('name') === 'string' ? part.get('name') : '',
    arguments: argumentsText(part.get('arguments')),
  };
  let call = null;
  if (!alone) call = fragment.index === null ? without(calls, fragment) : atIndex(calls, fragment);
  if (!call) {
    calls.push(fragment);
    return;
  }
  call.id ||= fragment.id;
  if (fragment.name !== call.name && (!call.arguments || !call.name)) call.name += fragment.name;
  call.arguments += fragment.arguments;
}

/** Pointers and names to a plain object: about form only, nothing is validated. */

import { copy, depth, isArray, isObject } from '../json/values.mjs';
import { logWarning } from '../log.mjs';
import { indexOf, split } from '../pointer.mjs';

const MAX_DEPTH = 100;

class Skip extends Error {}

const skip = (reason) => {
  throw new Skip(reason);
};

/** Objects merge deep; an object keyed by indexes applies to the items of an array; all else replaces. */
export function merged(old, value) {
  if (isObject(old) && isObject(value)) {
    for (const [name, member] of value) old.set(name, old.has(name) ? merged(old.get(name), member) : copy(member));
    return old;
  }
  if (isArray(old) && isObject(value) && value.size > 0 && [...value.keys()].every((name) => indexOf(name) >= 0)) {
    const indexes = [...value.keys()].map(indexOf).sort((a, b) => a - b);
    for (const index of indexes) {
      const item = value.get(String(index));
      if (index < old.length) old[index] = merged(old[index], item);
      else if (index === old.length) old.push(copy(item));
      else logWarning(`index ${index} is past the end of the array and is skipped`);
    }
    return old;
  }
  return copy(value);
}

/** Every subschema that could hold at a place, whatever the value. */
function possible(evaluator, schemas) {
  const all = new Set();
  const add = (schema) => {
    const node = schema.final;
    if (all.has(node) || typeof node.value === 'boolean') return;
    all.add(node);
    const { allOf = [], anyOf = [], oneOf = [], then: yes, else: no, dependencies = new Map() } = node.children;
    [...allOf, ...anyOf, ...oneOf, ...(yes ? [yes] : []), ...(no ? [no] : []), ...dependencies.values()].forEach(add);
  };
  schemas.forEach(add);
  return [...all];
}

function wantsArray(nodes) {
  const types = nodes.flatMap((node) => node.get('type') ?? []);
  if (types.includes('object')) return false;
  if (types.includes('array')) return true;
  const has = (...keywords) => nodes.some((node) => keywords.some((keyword) => node.has(keyword)));
  return has('items', 'contains', 'minItems', 'maxItems', 'uniqueItems')
    && !has('properties', 'patternProperties', 'additionalProperties', 'required');
}

class Converter {
  constructor(root, evaluator, base) {
    this.root = root;
    this.evaluator = evaluator;
    this.result = base ? copy(base) : new Map();
  }

  /** The subschemas that could hold at the place of these tokens. */
  at(tokens) {
    let nodes = possible(this.evaluator, [this.root]);
    for (const token of tokens) {
      const index = token === '-' ? 0 : indexOf(token);
      const below = [...this.evaluator.members(nodes, token), ...(index < 0 ? [] : this.evaluator.items(nodes, index))];
      nodes = possible(this.evaluator, below);
    }
    return nodes;
  }

  /** The containers that lead from the place of `path` along `tokens` to the value; none is made if one cannot be. */
  made(path, tokens, value) {
    if (tokens.length === 0) return copy(value);
    const isList = wantsArray(this.at(path));
    const [token, ...rest] = tokens;
    if (isList && token !== '0' && token !== '-') skip(`the array that would have to be made has no ${token}`);
    const inner = this.made([...path, token], rest, value);
    return isList ? [inner] : new Map([[token, inner]]);
  }

  apply(tokens, value) {
    if (tokens.length + depth(value) > MAX_DEPTH) skip(`deeper than ${MAX_DEPTH}`);
    let container = this.result;
    for (let i = 0; i < tokens.length; i += 1) {
      const token = tokens[i];
      const isLast = i === tokens.length - 1;
      const make = () => this.made(tokens.slice(0, i + 1), tokens.slice(i + 1), value);
      if (isObject(container)) {
        if (container.has(token) && !isLast) {
          container = container.get(token);
          continue;
        }
        container.set(token, container.has(token) ? merged(container.get(token), value) : make());
        return;
      }
      if (!isArray(container)) skip('the way leads on through a scalar');
      const index = token === '-' ? container.length : indexOf(token);
      if (index < 0 || index > container.length) skip(`${token} is no index of the array`);
      if (index < container.length && !isLast) {
        container = container[index];
        continue;
      }
      if (index < container.length) container[index] = merged(container[index], value);
      else container.push(make());
      return;
    }
  }

  pointer(key, value) {
    try {
      this.apply(split(key), value);
    } catch (error) {
      if (!(error instanceof Skip) && error.kind !== 'value_error') throw error;
      logWarning(`pointer ${key} is skipped: ${error.message}`);
    }
  }
}

/**
 * The plain object that `data`, keyed by names and pointers, means on top of `base`.
 * `isName` may claim a key that begins with `/` as a name.
 */
export function convert(root, evaluator, data, base = null, isName = () => false) {
  const converter = new Converter(root, evaluator, base);
  const { result } = converter;
  for (const [key, value] of data) {
    if (key.startsWith('/') && !isName(key)) converter.pointer(key, value);
    else result.set(key, result.has(key) ? merged(result.get(key), value) : copy(value));
  }
  return result;
}

/**
 * Known arguments and a reply's values in one tree: what is known at a place, what is new, and how a value is taken out.
 */

import { copy, equal, isArray, isContainer, isObject } from '../json/values.mjs';
import { join } from '../pointer.mjs';
import { declarations } from './declared.mjs';
import { NOTHING } from './nothing.mjs';

const child = (value, token) => {
  if (isObject(value) && value.has(token)) return value.get(token);
  if (isArray(value) && Number(token) < value.length) return value[Number(token)];
  return NOTHING;
};

export class Overlay {
  /** Known arrays that are wrong in themselves: a reply replaces them whole. */
  #wrongArrays = new Set();

  /** `data` is the reply laid over a copy of `known`; every valid known value is put back here. */
  constructor(evaluator, root, known, data) {
    this.known = known;
    this.data = this.#restore(evaluator, [root], known, data, []);
  }

  #restore(evaluator, schemas, known, data, path) {
    if (equal(known, data)) return copy(known);
    const isWrong = evaluator.fault(schemas, known, 'strict') !== null;
    const nodes = isContainer(known) ? evaluator.judging(schemas, known, 'strict') : [];
    // Beneath an undeclared member nothing is wrong.
    const isDeclared = isObject(known) ? declarations(evaluator, schemas, known) : () => true;
    const inside = (token, was, is) =>
      this.#restore(evaluator, isDeclared(token) ? evaluator.below(nodes, known, token) : [], was, is, [...path, token]);
    if (isObject(known) && isObject(data)) {
      for (const [name, member] of known) data.set(name, inside(name, member, data.get(name)));
      return data;
    }
    if (isWrong) {
      if (isArray(known)) this.#wrongArrays.add(join(path));
      return data;
    }
    if (!isArray(known) || !isArray(data)) return copy(known);
    return known.map((item, index) => (index < data.length ? inside(String(index), item, data[index]) : copy(item)));
  }

  /** What is known at a place, or NOTHING; nothing is known inside an array that was replaced. */
  knownAt(path) {
    let value = this.known;
    for (let i = 0; i < path.length; i += 1) {
      if (isArray(value) && this.#wrongArrays.has(join(path.slice(0, i)))) return NOTHING;
      value = child(value, path[i]);
      if (value === NOTHING) return NOTHING;
    }
    return value;
  }

  at(path) {
    return path.reduce((value, token) => (value === NOTHING ? NOTHING : child(value, token)), this.data);
  }

  /** Whether the values inside are to be compared one by one, rather than the two as wholes. */
  isShared(path, known, value) {
    if (isObject(known)) return isObject(value);
    return isArray(known) && isArray(value) && known.length === value.length && !this.#wrongArrays.has(join(path));
  }

  /** Puts back what is known at a place, or nothing; a new object of which nothing is left goes too. */
  takeOut(path) {
    const parent = path.slice(0, -1);
    const container = this.at(parent);
    const token = path.at(-1);
    const known = this.knownAt(path);
    if (container === NOTHING) return;
    if (known !== NOTHING) {
      if (isArray(container)) container[Number(token)] = copy(known);
      else container.set(token, copy(known));
      return;
    }
    container.delete(token);
    const isItem = isArray(this.at(parent.slice(0, -1))) && parent.length > 0;
    if (container.size === 0 && parent.length > 0 && !isItem && this.knownAt(parent) === NOTHING) this.takeOut(parent);
  }

  /** What `test` says of the data without the value at `path`; the data are afterwards what they were. */
  without(path, test) {
    const { data } = this;
    this.data = copy(data);
    this.takeOut(path);
    try {
      return test();
    } finally {
      this.data = data;
    }
  }

  /** The pointers of new scalars, arrays and empty objects, in the order of the merged object. */
  leaves(path = [], value = this.data, known = this.known) {
    const shared = known !== NOTHING && this.isShared(path, known, value);
    if (!shared && known !== NOTHING && equal(known, value)) return [];
    const descends = shared || (isObject(value) && value.size > 0);
    if (!descends) return [join(path)];
    const entries = isArray(value) ? value.map((item, index) => [String(index), item]) : [...value];
    return entries.flatMap(([token, member]) => this.leaves([...path, token], member, shared ? child(known, token) : NOTHING));
  }
}

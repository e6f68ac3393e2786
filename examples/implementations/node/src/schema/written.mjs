/** Copying subschemas out of their schema, so that what is copied stands alone. */

import { copy, isArray, isObject } from '../json/values.mjs';
import { escapeToken, split } from '../pointer.mjs';
import { LISTS, MAPS, ONE } from './keywords.mjs';
import { METASCHEMA_URI } from './metaschema.mjs';

/** Names and definitions of the original mean nothing elsewhere. */
const LOST = ['$id', '$schema', 'definitions', '$defs'];

export class Writer {
  #names = new Map();

  #pending = [];

  #taken = new Set();

  /** The JSON of a subschema, its references pointed at `definitions`. */
  schema(node) {
    return this.#copy(node.value, node);
  }

  #copy(value, node) {
    if (!isObject(value)) return copy(value);
    const result = new Map();
    for (const [keyword, member] of value) {
      const children = node.children[keyword];
      if (LOST.includes(keyword)) continue;
      if (keyword === '$ref') result.set(keyword, null); // its name is given after those that its siblings meet
      else if (LISTS.includes(keyword) && isArray(member)) result.set(keyword, children.map((child) => this.schema(child)));
      else if (ONE.includes(keyword)) result.set(keyword, this.schema(children));
      else if (MAPS.includes(keyword)) {
        result.set(keyword, new Map([...member].map(([name, item]) => [name, children.has(name) ? this.schema(children.get(name)) : copy(item)])));
      } else result.set(keyword, copy(member));
    }
    if (node.target) result.set('$ref', this.#reference(node));
    return result;
  }

  #reference({ target, uri }) {
    if (uri.split('#', 1)[0] === METASCHEMA_URI) return uri;
    if (!this.#names.has(target)) {
      const own = split(target.pointer).at(-1) || 'root';
      let name = own;
      for (let n = 2; this.#taken.has(name); n += 1) name = `${own}_${n}`;
      this.#taken.add(name);
      this.#names.set(target, name);
      this.#pending.push(target);
    }
    return `#/definitions/${encodeFragment(escapeToken(this.#names.get(target)))}`;
  }

  /** What the references led to, and what is referred to from there; empty if nothing was. */
  definitions() {
    const result = new Map();
    for (let node = this.#pending.shift(); node; node = this.#pending.shift()) result.set(this.#names.get(node), this.schema(node));
    return result;
  }
}

/** As a URI fragment: what it may hold stays, all else is percent-encoded in UTF-8. */
const encodeFragment = (token) =>
  token.replace(/[^A-Za-z0-9\-._~/!$&'()*+,;=:@]+/g, (part) => [...Buffer.from(part, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''));

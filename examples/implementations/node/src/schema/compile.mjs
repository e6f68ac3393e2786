/**
 * From a schema's JSON to nodes: one node for each subschema, told apart by where it stands.
 *
 * Everything that can be wrong with a schema is found here, before any data: malformed keywords, patterns, references
 * that lead nowhere, subschemas that are defined by themselves, and what is beyond the limits.
 */

import { invalidSchema } from '../errors.mjs';
import { isArray, isContainer, isObject } from '../json/values.mjs';
import { escapeToken, indexOf, split } from '../pointer.mjs';
import { CHECKS, LISTS, MAPS, ONE } from './keywords.mjs';
import { METASCHEMA_URI, metaschema } from './metaschema.mjs';
import { length } from './numbers.mjs';
import { compilePattern } from './patterns.mjs';
import { resolve } from './uri.mjs';
import { checkValues, SCHEMA_LIMITS } from './limits.mjs';

const MAX_NESTED = 100;
const MAX_PATTERN = 20_000;
/** The keywords that lead from a value to the same value. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependencies'];

/** One subschema. `value` is its JSON; `children` its subschemas by keyword: a node, a list, or a Map of nodes. */
export class Node {
  constructor(value, pointer, parent, depth) {
    Object.assign(this, { value, pointer, parent, depth, children: {}, target: null, base: '', patterns: null });
  }

  get(keyword) {
    return isObject(this.value) ? this.value.get(keyword) : undefined;
  }

  has(keyword) {
    return isObject(this.value) && this.value.has(keyword);
  }

  /** Where references end: the node that says what this one means. */
  get final() {
    let node = this;
    while (node.target) node = node.target;
    return node;
  }

  * all() {
    for (const child of Object.values(this.children)) {
      if (child instanceof Node) yield child;
      else yield* child.values();
    }
  }
}

/** A compiled document: its nodes by pointer, its resources by URI. */
class Document {
  nodes = new Map();

  resources = new Map();

  anchors = new Map();

  pending = [];

  constructor(value, meta) {
    this.meta = meta;
    this.value = value;
    this.root = this.add(value, '', null, '', 1);
    this.resources.set('', this.resources.get('') ?? this.root);
    for (let i = 0; i < this.pending.length; i += 1) this.link(this.pending[i]);
  }

  /** The node of a subschema and, beneath it, those of its own. */
  add(value, pointer, parent, base, depth) {
    if (depth > MAX_NESTED) throw invalidSchema(pointer, `subschemas nest deeper than ${MAX_NESTED}`);
    const node = new Node(value, pointer, parent, depth);
    this.nodes.set(pointer, node);
    node.base = base;
    if (typeof value === 'boolean') return node;
    this.check(node);
    this.name(node);
    if (node.has('$ref')) this.pending.push(node);
    for (const [keyword, member] of value) {
      const at = `${pointer}/${escapeToken(keyword)}`;
      const child = (schema, token) => this.add(schema, `${at}/${escapeToken(token)}`, node, node.base, depth + 1);
      if (LISTS.includes(keyword) && isArray(member)) node.children[keyword] = member.map((item, i) => child(item, String(i)));
      else if (ONE.includes(keyword)) node.children[keyword] = this.add(member, at, node, node.base, depth + 1);
      else if (MAPS.includes(keyword)) {
        const schemas = [...member].filter(([, schema]) => !isArray(schema)); // dependencies may list names
        node.children[keyword] = new Map(schemas.map(([name, schema]) => [name, child(schema, name)]));
      }
    }
    return node;
  }

  check(node) {
    for (const [keyword, member] of node.value) {
      const check = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword] : null;
      const at = `${node.pointer}/${escapeToken(keyword)}`;
      if (check && !check[0](member)) throw invalidSchema(at, `has to be ${check[1]}`);
      if (keyword === 'pattern') node.pattern = pattern(member, at);
      if (keyword === 'patternProperties') {
        node.patterns = [...member.keys()].map((name) => [name, pattern(name, `${at}/${escapeToken(name)}`)]);
      }
    }
  }

  name(node) {
    const id = node.get('$id');
    if (id === undefined || node.has('$ref')) return;
    const [uri, fragment] = resolve(node.base, id);
    node.base = uri;
    if (fragment) {
      const names = this.anchors.get(uri) ?? new Map();
      this.anchors.set(uri, names);
      const name = decoded(fragment) ?? fragment;
      if (!names.has(name)) names.set(name, node);
    } else if (!this.resources.has(uri)) this.resources.set(uri, node);
  }

  link(node) {
    const reference = node.get('$ref');
    const fail = () => { throw invalidSchema(`${node.pointer}/$ref`, `${JSON.stringify(reference)} leads nowhere`); };
    const [uri, fragment = ''] = resolve(node.base, reference);
    node.uri = uri + (reference.includes('#') ? `#${fragment}` : '');
    const home = this.resources.has(uri) ? this : !this.meta && uri === METASCHEMA_URI ? metaDocument() : fail();
    const resource = home.resources.get(uri);
    const name = decoded(fragment) ?? fail();
    node.target = name === '' ? resource : name.startsWith('/') ? home.find(resource, name) : home.anchors.get(uri)?.get(name);
    if (!node.target) fail();
  }

  /** The node a pointer leads to, made if it stands where no subschema is expected. */
  find(resource, pointer) {
    let value = resource.value;
    let at = resource.pointer;
    let around = resource;
    let tokens;
    try {
      tokens = split(pointer);
    } catch {
      return null;
    }
    for (const token of tokens) {
      if (isObject(value) && value.has(token)) value = value.get(token);
      else if (isArray(value) && indexOf(token) >= 0 && indexOf(token) < value.length) value = value[indexOf(token)];
      else return null;
      at = `${at}/${escapeToken(token)}`;
      around = this.nodes.get(at) ?? around;
    }
    if (this.nodes.has(at)) return this.nodes.get(at);
    return isObject(value) || typeof value === 'boolean' ? this.add(value, at, around, around.base, 1) : null;
  }
}

function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}

function pattern(source, pointer) {
  if (length(source) > MAX_PATTERN) throw invalidSchema(pointer, `is a pattern of more than ${MAX_PATTERN} characters`);
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidSchema(pointer, `is no pattern: ${error.message}`);
    throw error;
  }
}

let meta = null;
const metaDocument = () => {
  meta ??= new Document(metaschema(), true);
  return meta;
};

function* sameValue(node) {
  if (node.target) yield node.target;
  else {
    for (const keyword of SAME_VALUE) {
      const child = node.children[keyword];
      if (child instanceof Node) yield child;
      else if (child) yield* child.values();
    }
  }
}

/** A subschema that leads back to itself for the same value would never end. Without recursion: chains have any length. */
function refuseLoops(nodes) {
  const done = new Set();
  const open = new Set();
  for (const start of nodes) {
    const stack = [[start, sameValue(start)]];
    if (done.has(start)) continue;
    open.add(start);
    while (stack.length > 0) {
      const [node, next] = stack.at(-1);
      const { value: child, done: ended } = next.next();
      if (ended) {
        open.delete(node);
        done.add(node);
        stack.pop();
      } else if (open.has(child)) throw invalidSchema(child.pointer, 'is defined by itself');
      else if (!done.has(child)) {
        open.add(child);
        stack.push([child, sameValue(child)]);
      }
    }
  }
}

/** The root node of a schema; `invalid_schema` if it is none. `schema` must be a copy of the caller's. */
export function compile(schema) {
  if (!isContainer(schema) || isArray(schema)) throw invalidSchema('', 'a schema is an object');
  checkValues(schema, SCHEMA_LIMITS, invalidSchema);
  const document = new Document(schema, false);
  refuseLoops(document.nodes.values());
  return document;
}

/** Admitting null in a strict schema: what may be left out can then be `null`. */

import { copy, equal, isArray, isContainer, isObject, object } from '../json/values.mjs';

import { Node } from './compile.mjs';

const BASIC = ['boolean', 'integer', 'number', 'string'];
const NULL_BRANCH = object({ type: 'null' });

export function isBasic(schema) {
  if (!isObject(schema)) return false;
  if (schema.has('type')) return [schema.get('type')].flat().some((type) => BASIC.includes(type));
  const values = [...(schema.get('enum') ?? []), ...(schema.has('const') ? [schema.get('const')] : [])];
  return values.length > 0 && !values.some(isContainer);
}

/** Widens a basic schema in place. */
export function widen(schema) {
  const type = schema.get('type');
  if (typeof type === 'string') schema.set('type', [type, 'null']);
  else if (isArray(type) && !type.includes('null')) schema.set('type', [...type, 'null']);
  if (schema.has('const') && schema.get('const') !== null) {
    const constant = schema.get('const');
    const list = schema.get('enum');
    schema.delete('const');
    if (!list || list.some((item) => equal(item, constant))) schema.set('enum', [constant]);
  }
  const list = schema.get('enum');
  if (list && !list.includes(null)) schema.set('enum', [...list, null]);
  return schema;
}

/** The nodes that `oneOf`, `not` and `if` use, at any remove: widened, these would hold more often. */
function frozenNodes(nodes) {
  const frozen = new Set();
  for (const { children: { oneOf = [], not, if: condition } } of nodes) {
    for (const child of [...oneOf, ...(not ? [not] : []), ...(condition ? [condition] : [])]) frozen.add(child);
  }
  for (const node of frozen) {
    for (const child of node.all()) frozen.add(child);
    if (node.target) frozen.add(node.target);
  }
  return frozen;
}

class Widener {
  constructor({ nodes, root }) {
    this.frozen = frozenNodes(nodes.values());
    this.targets = [...nodes.values()].filter((node) => node.target).map((node) => node.target.pointer);
    this.root = root;
  }

  /** `value`: a schema of a value, to be widened; otherwise only what is inside it is. */
  schema(node, { value, nullable = false } = {}) {
    if (!isObject(node.value) || this.frozen.has(node)) return copy(node.value);
    if (value && node.target) return this.reference(node, nullable);
    const result = new Map();
    for (const [keyword, member] of node.value) result.set(keyword, this.member(node, keyword, member, value));
    return value && isBasic(result) ? widen(result) : result;
  }

  /** What stands beside a `$ref` would be ignored, so one to something basic becomes a choice. */
  reference(node, nullable) {
    const isReachedInto = this.targets.some((pointer) => pointer.startsWith(`${node.pointer}/`));
    if (nullable || isReachedInto || !isBasic(node.final.value)) return copy(node.value);
    return object({ anyOf: [copy(node.value), copy(NULL_BRANCH)] });
  }

  member(node, keyword, member, value) {
    const children = node.children[keyword];
    const map = (options) => new Map([...children].map(([name, child]) => [name, this.schema(child, options)]));
    if (['definitions', '$defs'].includes(keyword)) return map({ value: false });
    if (['properties', 'patternProperties'].includes(keyword)) return map({ value: true });
    if (keyword === 'additionalProperties' || (keyword === 'items' && children instanceof Node)) return this.schema(children, { value: true });
    if (keyword === 'items') return children.map((child) => this.schema(child, { value: true }));
    if (['anyOf', 'allOf'].includes(keyword)) {
      const nullable = keyword === 'anyOf' && member.some((branch) => equal(branch, NULL_BRANCH));
      return children.map((child) => this.schema(child, { value, nullable }));
    }
    return copy(member);
  }
}

/** The widened copy of a compiled schema. */
export const addNull = (document) => new Widener(document).schema(document.root, { value: false });


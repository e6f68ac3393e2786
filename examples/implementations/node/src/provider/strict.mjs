/** The schema for strict structured output: every basic property required and nullable, objects closed where they may be. */

import { isArray, isObject } from '../json/values.mjs';
import { SlotProcessor } from '../schema/processor.mjs';

const BRANCHES = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];
const MAPS = ['properties', 'definitions', '$defs'];

const describesObject = (schema) => isObject(schema) && (schema.has('properties') || schema.has('$ref'));
const branchesOf = (schema, keywords) => keywords.flatMap((keyword) => schema.get(keyword) ?? []).filter(isObject);

function admitsNull(schema) {
  if (!isObject(schema)) return false;
  const type = schema.get('type');
  return type === 'null' || (isArray(type) && type.includes('null')) || (schema.get('enum') ?? []).includes(null)
    || (schema.get('anyOf') ?? []).some(admitsNull);
}

/** Whether several schemas describe one object here: each, closed, would forbid what the others declare. */
function joins(schema) {
  return schema.has('allOf')
    || (schema.has('properties') && (schema.has('anyOf') || branchesOf(schema, BRANCHES).some(describesObject)));
}

function* reached(schema) {
  if (!isObject(schema)) return;
  yield schema;
  for (const keyword of MAPS) for (const child of schema.get(keyword)?.values() ?? []) yield* reached(child);
  for (const keyword of ['additionalProperties', 'items']) {
    for (const child of [schema.get(keyword) ?? []].flat()) yield* reached(child);
  }
  for (const child of branchesOf(schema, ['anyOf', 'allOf'])) yield* reached(child);
}

class Closer {
  constructor(root) {
    this.anywhere = [...reached(root)].some(joins);
  }

  /** `open`: the schema is one of several that describe one object. */
  close(schema, open) {
    if (!isObject(schema)) return schema;
    const result = new Map();
    for (const [keyword, member] of schema) result.set(keyword, this.member(schema, keyword, member, open));
    if (!schema.has('properties') || schema.has('$ref')) return result;
    const required = [...(schema.get('required') ?? [])];
    for (const [name, property] of schema.get('properties')) if (admitsNull(property) && !required.includes(name)) required.push(name);
    result.set('required', required);
    const isOpen = open || branchesOf(schema, BRANCHES).some(describesObject);
    if (!schema.has('additionalProperties') && !isOpen) result.set('additionalProperties', false);
    return result;
  }

  member(schema, keyword, member, open) {
    const map = (isOpen) => new Map([...member].map(([name, child]) => [name, this.close(child, isOpen)]));
    if (keyword === 'properties') return map(false);
    if (keyword === 'definitions' || keyword === '$defs') return map(this.anywhere);
    if (keyword === 'items' && isArray(member)) return member.map((child) => this.close(child, false));
    if (keyword === 'items' || keyword === 'additionalProperties') return this.close(member, false);
    if (keyword === 'allOf') return member.map((child) => this.close(child, true));
    if (keyword === 'anyOf') return member.map((child) => this.close(child, open || schema.has('properties')));
    return member;
  }
}

export function strictSchema(schema) {
  const widened = new SlotProcessor(schema).addNull();
  return new Closer(widened).close(widened, false);
}

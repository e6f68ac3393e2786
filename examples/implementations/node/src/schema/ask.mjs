/** What models are shown: a nested schema of what is still asked for, to be answered in nested JSON. */

import { isArray, isObject, object } from '../json/values.mjs';
import { escapeToken, split } from '../pointer.mjs';
import { isBasic, widen } from './addnull.mjs';
import { documentOrder, places, written } from './check.mjs';
import { Evaluator } from './evaluate.mjs';
import { Writer } from './written.mjs';

/** Declared properties that known objects may have and have not; nothing beneath a place that is asked for anyway. */
function* optionalPlaces(evaluator, schemas, value, listed, pointer = '') {
  if (listed.has(pointer)) return;
  const nodes = evaluator.judging(schemas, value, 'strict');
  const at = (token) => `${pointer}/${escapeToken(token)}`;
  if (isArray(value)) {
    for (const [index, item] of value.entries()) yield* optionalPlaces(evaluator, evaluator.items(nodes, index), item, listed, at(String(index)));
  }
  if (!isObject(value)) return;
  const declared = new Set(nodes.flatMap((node) => [...(node.children.properties?.keys() ?? [])]));
  for (const name of declared) {
    const below = evaluator.members(nodes, name);
    if (value.has(name) || listed.has(at(name)) || below.some((node) => evaluator.neverValid(node))) continue;
    yield { pointer: at(name), schemas: below, optional: true };
  }
  for (const name of documentOrder(nodes, value)) {
    yield* optionalPlaces(evaluator, evaluator.members(nodes, name), value.get(name), listed, at(name));
  }
}

/** What is asked for: what is missing or wrong and not forbidden; on request also what may be there and is not. */
export function askedPlaces(root, known, { optional = false, found = places(root, known) } = {}) {
  const asked = found.filter(({ schemas }) => schemas !== null);
  if (optional) asked.push(...optionalPlaces(new Evaluator(), [root], known, new Set(found.map(({ pointer }) => pointer))));
  return asked;
}

const admitsNull = (schema) => new Evaluator().valid(compile(schema).root, null);

/** Keywords beside which widening the type alone may not admit null. */
const BINDING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

/** The schema, or null for "unknown". */
function nullable(schema, schemas) {
  if (schemas.every((node) => new Evaluator().valid(node, null))) return schema;
  if (isBasic(schema) && !BINDING.some((keyword) => schema.has(keyword))) return widen(schema);
  return object({ anyOf: [schema, object({ type: 'null' })] });
}

/** Title and description of what holds at a place: its own words before those of what it refers to. */
function words(evaluator, schemas, value) {
  const nodes = [...schemas.filter((node) => node.target), ...evaluator.judging(schemas, value, 'strict')];
  const result = new Map();
  for (const keyword of ['title', 'description']) {
    const node = nodes.find((candidate) => candidate.has(keyword));
    if (node) result.set(keyword, node.get(keyword));
  }
  return result;
}

function onTheWay(evaluator, schemas, value) {
  return new Map([['type', 'object'], ...words(evaluator, schemas, value), ['properties', new Map()], ['required', []]]);
}

function place(evaluator, root, schema, known, tokens, leaf) {
  let here = schema;
  let schemas = [root];
  let value = known;
  tokens.forEach((token, index) => {
    const nodes = evaluator.judging(schemas, value, 'strict');
    schemas = evaluator.below(nodes, value, token);
    value = isArray(value) ? value[Number(token)] : value.get(token);
    const properties = here.get('properties');
    const isNew = !properties.has(token);
    if (isNew) here.get('required').push(token);
    if (index === tokens.length - 1) properties.set(token, leaf);
    else if (isNew) properties.set(token, onTheWay(evaluator, schemas, value));
    here = properties.get(token);
  });
}

/** The nested schema of the places asked for, `{}` of none. */
export function askSchema(root, known, asked) {
  if (asked.length === 0) return new Map();
  const evaluator = new Evaluator();
  const writer = new Writer();
  const leaves = asked.map(({ schemas }) => written(schemas, writer));
  const definitions = writer.definitions();
  const isRoot = asked[0].pointer === '';
  const result = isRoot ? leaves[0] : onTheWay(evaluator, [root], known);
  if (!isRoot) {
    asked.forEach(({ pointer, optional }, index) => {
      const leaf = optional ? nullable(leaves[index], asked[index].schemas) : leaves[index];
      place(evaluator, root, result, known, split(pointer), leaf);
    });
  }
  if (definitions.size > 0) result.set('definitions', definitions);
  return result;
}

/** What is still to be filled: the places that are wrong or missing, each with the schema that holds there. */

import { isArray, isObject, object } from '../json/values.mjs';
import { escapeToken } from '../pointer.mjs';
import { Evaluator } from './evaluate.mjs';
import { Writer } from './written.mjs';

export const FORBIDDEN = () => object({ not: new Map() });

/** Names in document order: those of `properties`, then further members, then further missing names. */
export function documentOrder(nodes, value, missing = []) {
  const absent = new Set(missing);
  const declared = nodes.flatMap((node) => [...(node.children.properties?.keys() ?? [])]);
  const names = new Set(declared.filter((name) => value.has(name) || absent.has(name)));
  for (const name of value.keys()) names.add(name);
  for (const name of missing) names.add(name);
  return names;
}

/** `{pointer, schemas}` of each place, in order; `schemas` null where nothing may be. */
export function places(root, data, evaluator = new Evaluator()) {
  const found = [];
  const list = (pointer, schemas) => found.push({ pointer, schemas: schemas.some((node) => evaluator.neverValid(node)) ? null : schemas });
  const walk = (pointer, schemas, value) => {
    if (pointer !== '' && schemas.some((node) => evaluator.neverValid(node))) return list(pointer, schemas);
    const nodes = evaluator.applying(schemas, value);
    if (nodes.some((node) => evaluator.ownFault(node, value) !== null)) return list(pointer, schemas);
    if (isObject(value)) {
      const missing = new Set(evaluator.missing(nodes, value));
      for (const name of documentOrder(nodes, value, [...missing])) {
        const at = `${pointer}/${escapeToken(name)}`;
        const below = evaluator.members(nodes, name);
        if (missing.has(name)) list(at, below);
        else if (below.length > 0) walk(at, below, value.get(name));
      }
    } else if (isArray(value)) {
      value.forEach((item, index) => {
        const below = evaluator.items(nodes, index);
        if (below.length > 0) walk(`${pointer}/${index}`, below, item);
      });
    }
    return undefined;
  };
  walk('', [root], data);
  return found;
}

/** One schema for a place: what says nothing is left out (`schema.check.11`). */
export function written(schemas, writer) {
  if (schemas === null) return FORBIDDEN();
  const parts = schemas.filter(({ value }) => value !== true && !(isObject(value) && value.size === 0)).map((node) => writer.schema(node));
  if (parts.length === 0) return new Map();
  return parts.length === 1 ? parts[0] : object({ allOf: parts });
}

/** The remaining schema of places: `{}` of none. */
export function remainingSchema(found) {
  if (found.length === 0) return new Map();
  const writer = new Writer();
  const result = object({
    type: 'object',
    properties: new Map(found.map(({ pointer, schemas }) => [pointer, written(schemas, writer)])),
    required: found.map(({ pointer }) => pointer),
  });
  const definitions = writer.definitions();
  if (definitions.size > 0) result.set('definitions', definitions);
  return result;
}

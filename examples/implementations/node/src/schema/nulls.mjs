/** Reading a reply back in which `null` may mean "not given". */

import { isArray, isObject } from '../json/values.mjs';
import { admitsType } from './evaluate.mjs';

/** The `anyOf` and `oneOf` of nodes, as the lists of their branches that fit an object. */
function* choices(nodes) {
  for (const { children } of nodes) {
    for (const branches of [children.anyOf, children.oneOf]) {
      if (branches) yield branches.filter((branch) => admitsType(branch, 'object'));
    }
  }
}

/** The subschemas that apply to an object, and the single branch that fits it, with what applies by it. */
export function applyingWithBranches(evaluator, schemas, value) {
  const nodes = new Set(evaluator.applying(schemas, value));
  for (const node of nodes) {
    // A Set is gone through to its end, what is added on the way included.
    for (const fitting of choices([node])) if (fitting.length === 1) evaluator.applying(fitting, value).forEach((more) => nodes.add(more));
  }
  return [...nodes];
}

export function isDropped(evaluator, nodes, value, name) {
  const refuses = (schemas) => schemas.some((schema) => !evaluator.valid(schema, null));
  if (refuses(evaluator.members(nodes, name))) return true;
  for (const fitting of choices(nodes)) {
    if (fitting.length > 1 && fitting.every((branch) => refuses(evaluator.members(applyingWithBranches(evaluator, [branch], value), name)))) return true;
  }
  return false;
}

/** A copy of `value` without the null members that their schemas do not admit; shares what did not change. */
export function dropNulls(evaluator, schemas, value) {
  if (isArray(value)) {
    const nodes = evaluator.applying(schemas, value);
    return value.map((item, index) => dropNulls(evaluator, evaluator.items(nodes, index), item));
  }
  if (!isObject(value)) return value;
  const nodes = applyingWithBranches(evaluator, schemas, value);
  const result = new Map();
  for (const [name, member] of value) {
    if (member === null && isDropped(evaluator, nodes, value, name)) continue;
    result.set(name, dropNulls(evaluator, evaluator.members(nodes, name), member));
  }
  return result;
}

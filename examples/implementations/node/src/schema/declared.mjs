/** Which members an object's schemas declare: Draft 7 admits any member unless it is told not to. */

import { isArray } from '../json/values.mjs';
import { admitsType } from './evaluate.mjs';

/** All schemas of an object that have a say: branches made for objects too, whether or not they hold; `not` has none. */
function speaking(evaluator, schemas, value) {
  const list = new Set();
  const add = (schema) => {
    const node = schema.final;
    if (typeof node.value === 'boolean' || list.has(node)) return;
    list.add(node);
    const { allOf = [], anyOf = [], oneOf = [], if: condition, dependencies = new Map() } = node.children;
    allOf.forEach(add);
    [...anyOf, ...oneOf].filter((branch) => admitsType(branch, 'object')).forEach(add);
    if (condition) add(condition);
    const branch = evaluator.branch(node, value);
    if (branch) add(branch);
    for (const [name, child] of dependencies) if (value.has(name)) add(child);
  };
  schemas.forEach(add);
  return [...list];
}

/** `(name) => boolean` for the members of `value`. */
export function declarations(evaluator, schemas, value) {
  const nodes = speaking(evaluator, schemas, value);
  const closed = nodes.some((node) => node.has('properties') || node.has('patternProperties') || node.has('additionalProperties'));
  const open = nodes.some((node) => node.has('additionalProperties') && node.get('additionalProperties') !== false);
  if (!closed || open) return () => true;
  const required = new Set(nodes.flatMap((node) => node.get('required') ?? []));
  for (const node of nodes) {
    for (const [trigger, names] of node.get('dependencies') ?? []) {
      if (isArray(names) && value.has(trigger)) names.forEach((name) => required.add(name));
    }
  }
  return (name) => required.has(name) || nodes.some(({ children, patterns }) =>
    children.properties?.has(name) || (patterns ?? []).some(([, test]) => test(name)));
}

/** The names that the root has: in `properties` or required, in what applies to this value. */
export function rootNames(evaluator, root, value) {
  const names = new Set();
  for (const node of evaluator.judging([root], value, 'strict')) {
    for (const name of node.children.properties?.keys() ?? []) names.add(name);
    for (const name of node.get('required') ?? []) names.add(name);
    for (const [trigger, needed] of node.get('dependencies') ?? []) {
      if (isArray(needed) && value.has(trigger)) needed.forEach((name) => names.add(name));
    }
  }
  return names;
}

/**
 * Whether a top-level key that begins with `/` is a name: models are shown names, and answer with them.
 * It is exactly when the root has that very name, and not the one with which it would begin as a pointer.
 */
export function claimsName(names) {
  return (key) => {
    const [first] = key.slice(1).split('/');
    return names.has(key) && !names.has(first.replaceAll('~1', '/').replaceAll('~0', '~'));
  };
}

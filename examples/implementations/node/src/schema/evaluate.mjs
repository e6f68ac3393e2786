/**
 * Judging values by compiled schemas.
 *
 * `valid` is Draft 7's verdict. `holds` is the same with one allowance, for values that are still being filled:
 * members that are merely missing are no fault. No subschema is asked about the same value twice (`schema.limit.6`):
 * verdicts are remembered by value, containers by identity; so an evaluator is for values that do not change.
 */

import { equal, isArray, isInteger, isNumber, isObject, isString, key } from '../json/values.mjs';
import { isMultiple, length } from './numbers.mjs';
import { Node } from './compile.mjs';

const TYPE_TESTS = {
  array: isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: isInteger,
  null: (value) => value === null,
  number: isNumber,
  object: isObject,
  string: isString,
};

const typesOf = (type) => (isArray(type) ? type : [type]);

/** Whether a subschema's `type`, if it has one, admits this type. */
export function admitsType(node, type) {
  const { value } = node.final;
  if (value === false) return false;
  return value === true || !value.has('type') || typesOf(value.get('type')).includes(type);
}

/** Whether a branch is made for values of this one's type. */
function isMadeFor(node, value) {
  const type = node.final.get('type');
  return node.final.value !== false && (type === undefined || ASSERTIONS.type(type, value));
}

/** Keywords on one value that need no subschema: `(argument, value) => whether it is kept`. */
const ASSERTIONS = {
  type: (type, value) => typesOf(type).some((name) => TYPE_TESTS[name](value)),
  enum: (list, value) => list.some((item) => equal(item, value)),
  const: (constant, value) => equal(constant, value),
  maximum: (limit, value) => !isNumber(value) || value <= limit,
  exclusiveMaximum: (limit, value) => !isNumber(value) || value < limit,
  minimum: (limit, value) => !isNumber(value) || value >= limit,
  exclusiveMinimum: (limit, value) => !isNumber(value) || value > limit,
  multipleOf: (divisor, value) => !isNumber(value) || isMultiple(value, divisor),
  maxLength: (limit, value) => !isString(value) || length(value) <= limit,
  minLength: (limit, value) => !isString(value) || length(value) >= limit,
  maxItems: (limit, value) => !isArray(value) || value.length <= limit,
  minItems: (limit, value) => !isArray(value) || value.length >= limit,
  maxProperties: (limit, value) => !isObject(value) || value.size <= limit,
  minProperties: (limit, value) => !isObject(value) || value.size >= limit,
  uniqueItems: (wanted, value) => !wanted || !isArray(value) || new Set(value.map(key)).size === value.length,
};

/** What more members may still mend. */
const GROWING = ['minProperties'];

export class Evaluator {
  #verdicts = { strict: new Map(), partial: new Map() };

  #never = new Map();

  valid(node, value) {
    return this.#judge(node.final, value, 'strict');
  }

  /** Valid, but for members that are merely missing. */
  holds(node, value) {
    return this.#judge(node.final, value, 'partial');
  }

  #judge(node, value, mode) {
    if (typeof node.value === 'boolean') return node.value;
    const verdicts = this.#verdicts[mode];
    if (!verdicts.has(node)) verdicts.set(node, new Map());
    const known = verdicts.get(node);
    if (!known.has(value)) known.set(value, this.#judgeAnew(node, value, mode));
    return known.get(value);
  }

  #judgeAnew(node, value, mode) {
    const judge = (child, part) => this.#judge(child.final, part, mode);
    if (this.ownFault(node, value, mode) !== null) return false;
    const { allOf = [], dependencies } = node.children;
    if (!allOf.every((child) => judge(child, value))) return false;
    const branch = this.branch(node, value);
    if (branch && !judge(branch, value)) return false;
    if (isObject(value)) {
      if (mode === 'strict' && this.missing([node], value).length > 0) return false;
      for (const [name, child] of dependencies ?? []) if (value.has(name) && !judge(child, value)) return false;
      for (const [name, member] of value) if (!this.members([node], name).every((child) => judge(child, member))) return false;
    }
    return !isArray(value) || value.every((item, index) => this.items([node], index).every((child) => judge(child, item)));
  }

  /** `then` or `else`, whichever applies; what is there decides, in either mode. */
  branch(node, value) {
    const { if: condition, then: yes, else: no } = node.children;
    if (!condition) return undefined;
    return this.valid(condition, value) ? yes : no;
  }

  /** The first keyword that looks at the value as a whole and is broken, or null. `node` has no `$ref`. */
  ownFault(node, value, mode = 'strict') {
    if (typeof node.value === 'boolean') return node.value ? null : 'false';
    for (const [keyword, argument] of node.value) {
      const assertion = Object.hasOwn(ASSERTIONS, keyword) ? ASSERTIONS[keyword] : null;
      if (assertion && !(mode === 'partial' && GROWING.includes(keyword)) && !assertion(argument, value)) return keyword;
    }
    if (node.pattern && isString(value) && !node.pattern(value)) return 'pattern';
    const { propertyNames, contains, anyOf, oneOf, not } = node.children;
    const judge = (child, part) => this.#judge(child.final, part, mode);
    if (propertyNames && isObject(value) && ![...value.keys()].every((name) => this.valid(propertyNames, name))) return 'propertyNames';
    if (contains && isArray(value) && !value.some((item) => judge(contains, item))) return 'contains';
    if (anyOf && !anyOf.some((child) => judge(child, value))) return 'anyOf';
    if (oneOf && !this.#one(oneOf, value, mode)) return 'oneOf';
    if (not && this.valid(not, value)) return 'not';
    if (isArray(value) && this.#forbiddenItem(node, value)) return isArray(node.children.items) ? 'additionalItems' : 'items';
    return null;
  }

  #one(branches, value, mode) {
    // While it can grow, more than one branch may hold.
    if (mode === 'partial' && (isArray(value) || isObject(value))) return branches.some((child) => this.holds(child, value));
    return branches.filter((child) => this.valid(child, value)).length === 1;
  }

  #forbiddenItem(node, value) {
    return value.some((_, index) => this.items([node], index).some((child) => this.neverValid(child)));
  }

  /** `false`, `not` of everything, or a conjunction with such a schema. */
  neverValid(node) {
    const last = node.final;
    if (!this.#never.has(last)) {
      const { value } = last;
      const not = last.get('not');
      this.#never.set(last, value === false || not === true || (isObject(not) && not.size === 0)
        || (last.children.allOf ?? []).some((child) => this.neverValid(child)));
    }
    return this.#never.get(last);
  }

  /** The subschemas that apply to a value, references and conditions resolved (`schema.check.3`). */
  applying(schemas, value) {
    const list = new Set();
    const add = (schema) => {
      const node = schema.final;
      if (node.value === true || list.has(node)) return;
      list.add(node);
      if (node.value === false) return;
      for (const child of node.children.allOf ?? []) add(child);
      const branch = this.branch(node, value);
      if (branch) add(branch);
      if (!isObject(value)) return;
      for (const [name, child] of node.children.dependencies ?? []) if (value.has(name)) add(child);
    };
    schemas.forEach(add);
    return [...list];
  }

  /**
   * The subschemas by which what is inside a value is judged: those that apply, and of each `anyOf` and `oneOf` the branches
   * that hold, or, when none does, the one made for the value's type, if there is just one (`slot.merge.14`).
   * `mode` says how strictly a branch has to hold: `partial` for a reply's values, `strict` for known ones.
   */
  judging(schemas, value, mode = 'partial') {
    const nodes = new Set(this.applying(schemas, value));
    for (const { children } of nodes) {
      for (const branches of [children.anyOf, children.oneOf]) {
        if (!branches) continue;
        const holding = branches.filter((branch) => this.#judge(branch.final, value, mode));
        const made = branches.filter((branch) => isMadeFor(branch, value));
        const meant = holding.length > 0 ? holding : made.length === 1 ? made : [];
        this.applying(meant, value).forEach((node) => nodes.add(node));
      }
    }
    return [...nodes];
  }

  /** `[node, keyword]` of what is wrong with a value at its own place, or null. */
  fault(schemas, value, mode = 'partial') {
    const never = schemas.find((schema) => this.neverValid(schema));
    if (never) return [never.final, 'false'];
    for (const node of this.applying(schemas, value)) {
      const keyword = this.ownFault(node, value, mode);
      if (keyword !== null) return [node, keyword];
    }
    return null;
  }

  /** The schemas that hold for a member or an item of `value`. */
  below(nodes, value, token) {
    return isArray(value) ? this.items(nodes, Number(token)) : this.members(nodes, token);
  }

  /** The schemas that hold for a member, each once (`schema.check.8`). */
  members(nodes, name) {
    const list = new Set();
    for (const { children, patterns } of nodes) {
      const own = [];
      if (children.properties?.has(name)) own.push(children.properties.get(name));
      for (const [pattern, test] of patterns ?? []) if (test(name)) own.push(children.patternProperties.get(pattern));
      if (own.length === 0 && children.additionalProperties) own.push(children.additionalProperties);
      own.forEach((child) => list.add(child));
    }
    return [...list];
  }

  /** The schemas that hold for an item, each once (`schema.check.9`). */
  items(nodes, index) {
    const list = new Set();
    for (const { children: { items, additionalItems } } of nodes) {
      const child = items instanceof Node ? items : items ? items[index] ?? additionalItems : undefined;
      if (child) list.add(child);
    }
    return [...list];
  }

  /** Names that are required and absent, `required` before `dependencies`, node by node. */
  missing(nodes, value) {
    const names = new Set();
    for (const node of nodes) {
      for (const name of node.get('required') ?? []) if (!value.has(name)) names.add(name);
      for (const [trigger, needed] of node.get('dependencies') ?? []) {
        if (isArray(needed) && value.has(trigger)) for (const name of needed) if (!value.has(name)) names.add(name);
      }
    }
    return [...names];
  }
}

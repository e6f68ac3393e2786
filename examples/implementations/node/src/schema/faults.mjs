/** The faults among what a reply brought: wrong and undeclared values, each at its own place. */

import { equal, isArray, isObject, typeName } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { join } from '../pointer.mjs';
import { documentOrder } from './check.mjs';
import { declarations } from './declared.mjs';
import { NOTHING } from './overlay.mjs';
import { applyingWithBranches, isDropped } from './nulls.mjs';

const SHOWN = 80;

/** Why a value was left out, for people who read reports. */
export function reasonOf([node, keyword], value) {
  if (keyword === 'false') return 'must not be there';
  const argument = node.get(keyword);
  if (keyword === 'type') return `expected ${[argument].flat().join(' or ')}, got ${typeName(value)}`;
  const text = [...toText(argument ?? null)];
  return `breaks ${keyword}: ${text.length > SHOWN ? `${text.slice(0, SHOWN).join('')}…` : text.join('')}`;
}

const samePath = (a, b) => a.length === b.length && a.every((token, index) => token === b[index]);

export class Survey {
  /** The topmost new places, in document order. */
  news = [];

  /** `{path, kind, reason}` of the faults that have no other fault beneath them, in document order. */
  faults = [];

  /** Paths of the containers that were known and that hold something new. */
  containers = [];

  constructor(evaluator, root, overlay) {
    this.evaluator = evaluator;
    this.overlay = overlay;
    this.#shared([], [root], overlay.data, overlay.known);
  }

  /** A place that was known: only what is new beneath it is looked at. */
  #shared(path, schemas, value, known) {
    if (!this.overlay.isShared(path, known, value)) {
      if (!equal(known, value)) this.#fresh(path, schemas, value);
      return;
    }
    const before = this.news.length;
    const nodes = this.evaluator.judging(schemas, value);
    const isDeclared = isObject(value) ? declarations(this.evaluator, schemas, value) : () => true;
    for (const token of tokensOf(nodes, value)) {
      const at = [...path, token];
      const member = isArray(value) ? value[token] : value.get(token);
      const was = this.overlay.knownAt(at);
      const isNew = was === NOTHING || !(equal(was, member) || this.overlay.isShared(at, was, member));
      if (isNew && !isDeclared(token)) {
        this.news.push(at);
        this.faults.push({ path: at, kind: 'undeclared', reason: 'the schema does not declare it' });
      } else if (was === NOTHING) this.#fresh(at, this.evaluator.below(nodes, value, token), member);
      else this.#shared(at, this.evaluator.below(nodes, value, token), member, was);
    }
    if (this.news.length > before) this.containers.push(path);
  }

  #fresh(path, schemas, value) {
    this.news.push(path);
    this.faults.push(...this.#judge(path, schemas, value));
  }

  /** The deepest faults of a new value. */
  #judge(path, schemas, value) {
    const beneath = [];
    if (isObject(value) || isArray(value)) {
      const nodes = this.evaluator.judging(schemas, value);
      const isDeclared = isObject(value) ? declarations(this.evaluator, schemas, value) : () => true;
      for (const token of tokensOf(nodes, value)) {
        const at = [...path, token];
        if (!isDeclared(token)) beneath.push({ path: at, kind: 'undeclared', reason: 'the schema does not declare it' });
        else beneath.push(...this.#judge(at, this.evaluator.below(nodes, value, token), isArray(value) ? value[token] : value.get(token)));
      }
    }
    const isOwnItem = (fault) => isArray(value) && fault.path.length === path.length + 1;
    const members = beneath.filter((fault) => !isOwnItem(fault));
    if (members.length > 0) return members;
    // An array is one value: what is wrong with an item is wrong with it.
    if (beneath.length > 0) return [{ path, kind: 'rejected', reason: `${join(beneath[0].path)}: ${beneath[0].reason}` }];
    const fault = this.evaluator.fault(schemas, value);
    return fault ? [{ path, kind: 'rejected', reason: reasonOf(fault, value) }] : [];
  }

  newsBeneath(path) {
    return this.news.filter((at) => samePath(at.slice(0, path.length), path));
  }
}

const tokensOf = (nodes, value) => (isArray(value) ? value.map((_, index) => String(index)) : [...documentOrder(nodes, value)]);

/** The paths of new, declared members that are null where the schema admits none: they mean "not given". */
export function* unwantedNulls(evaluator, overlay, schemas, value = overlay.data, path = []) {
  if (isArray(value)) {
    const nodes = evaluator.applying(schemas, value);
    for (const [index, item] of value.entries()) yield* unwantedNulls(evaluator, overlay, evaluator.items(nodes, index), item, [...path, String(index)]);
  }
  if (!isObject(value)) return;
  const nodes = applyingWithBranches(evaluator, schemas, value);
  const isDeclared = declarations(evaluator, schemas, value);
  for (const [name, member] of value) {
    const at = [...path, name];
    if (member !== null) yield* unwantedNulls(evaluator, overlay, evaluator.members(nodes, name), member, at);
    else if (overlay.knownAt(at) !== null && isDeclared(name) && isDropped(evaluator, nodes, value, name)) yield at;
  }
}

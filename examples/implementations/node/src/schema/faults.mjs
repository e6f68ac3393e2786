/** The faults among what a reply brought: wrong and undeclared values, each at its own place. */

import { equal, isArray, isObject, typeName } from '../json/values.mjs';
import { toText } from '../json/write.mjs';
import { join } from '../pointer.mjs';
import { documentOrder } from './check.mjs';
import { declarations } from './declared.mjs';
import { NOTHING } from './nothing.mjs';

const SHOWN = 80;

/** Why a value was left out, for people who read reports. */
export function reasonOf([node, keyword], value) {
  if (keyword === 'false') return 'must not be there';
  const argument = node.get(keyword);
  if (keyword === 'type') return `expected ${[argument].flat().join(' or ')}, got ${typeName(value)}`;
  const text = [...toText(argument ?? null)];
  return `breaks ${keyword}: ${text.length > SHOWN ? `${text.slice(0, SHOWN).join('')}…` : text.join('')}`;
}

const UNDECLARED = { kind: 'undeclared', reason: 'the schema does not declare it' };
const FORBIDDEN = { kind: 'rejected', reason: 'must not be there' };

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

  /**
   * A place that was known: only what is new beneath it is looked at.
   * `refused` is the fault of anything new, where the place is undeclared or forbidden itself.
   */
  #shared(path, schemas, value, known, refused = null) {
    const before = this.news.length;
    const nodes = this.evaluator.judging(schemas, value);
    const isDeclared = isObject(value) ? declarations(this.evaluator, schemas, value) : () => true;
    const isForbidden = schemas.some((schema) => this.evaluator.neverValid(schema));
    const inherited = refused ?? (isForbidden ? FORBIDDEN : null);
    for (const token of tokensOf(nodes, value)) {
      const at = [...path, token];
      const member = isArray(value) ? value[token] : value.get(token);
      const was = this.overlay.knownAt(at);
      const fault = inherited ?? (isDeclared(token) ? null : UNDECLARED);
      const below = fault ? [] : this.evaluator.below(nodes, value, token);
      if (was !== NOTHING && this.overlay.isShared(at, was, member)) this.#shared(at, below, member, was, fault);
      else if (was === NOTHING || !equal(was, member)) this.#fresh(at, below, member, fault);
    }
    if (this.news.length > before) this.containers.push(path);
  }

  #fresh(path, schemas, value, fault) {
    this.news.push(path);
    if (fault) this.faults.push({ path, ...fault });
    else this.faults.push(...this.#judge(path, schemas, value));
  }

  /** The deepest faults of a new value. */
  #judge(path, schemas, value) {
    const beneath = [];
    if (isObject(value) || isArray(value)) {
      const nodes = this.evaluator.judging(schemas, value);
      const isDeclared = isObject(value) ? declarations(this.evaluator, schemas, value) : () => true;
      for (const token of tokensOf(nodes, value)) {
        const at = [...path, token];
        if (!isDeclared(token)) beneath.push({ path: at, ...UNDECLARED });
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

  /** The faults that are declared members with null: they mean "not given", and make no condition hold. */
  get nulls() {
    return this.faults.filter(({ path, kind }) => kind === 'rejected' && this.overlay.at(path) === null && isObject(this.overlay.at(path.slice(0, -1))));
  }

  newsBeneath(path) {
    return this.news.filter((at) => samePath(at.slice(0, path.length), path));
  }
}

const tokensOf = (nodes, value) => (isArray(value) ? value.map((_, index) => String(index)) : [...documentOrder(nodes, value)]);

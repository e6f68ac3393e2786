/** Rendering templates: Jinja's language without the host behind it. */

import { equal } from '../json/values.mjs';
import { filter, FUNCTIONS, test } from './builtins.mjs';
import { characters, made, nested, step, withBudget } from './budget.mjs';
import { TemplateError } from './lex.mjs';
import { parseTemplate } from './parse.mjs';
import { arithmetic, attribute, contains, isTrue, item, iterate, joined, Namespace, order, print, slice, Undefined, used } from './values.mjs';

/** A value that is made when it is first looked at. */
class Lazy {
  constructor(make) {
    this.make = make;
  }

  get value() {
    this.made ??= this.make();
    return this.made;
  }
}

/** Names seen from inside out; a loop or a macro has a scope of its own. */
class Scope {
  constructor(parent = null, names = new Map()) {
    this.parent = parent;
    this.names = names;
  }

  get(name) {
    for (let scope = this; scope; scope = scope.parent) {
      const value = scope.names.get(name);
      if (value instanceof Lazy) return value.value;
      if (value !== undefined || scope.names.has(name)) return value;
    }
    return Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : new Undefined(name);
  }

  assign(target, value) {
    if (typeof target === 'string') this.names.set(target, value);
    else {
      const items = iterate(value);
      if (items.length !== target.length) throw new TemplateError(`${target.length} values expected, not ${items.length}`);
      target.forEach((name, index) => this.assign(name, items[index]));
    }
  }
}

const COMPARE = {
  '==': (a, b) => equal(a, b),
  '!=': (a, b) => !equal(a, b),
  '<': (a, b) => order(a, b) < 0,
  '>': (a, b) => order(a, b) > 0,
  '<=': (a, b) => order(a, b) <= 0,
  '>=': (a, b) => order(a, b) >= 0,
  in: (a, b) => contains(b, a),
  'not in': (a, b) => !contains(b, a),
};

const EVALUATE = {
  constant: ({ value }) => value,
  name: ({ name }, scope) => scope.get(name),
  list: ({ items }, scope) => items.map((each) => used(evaluate(each, scope))),
  object: ({ members }, scope) => new Map(members.map(([name, value]) => [used(evaluate(name, scope)), used(evaluate(value, scope))])),
  if: ({ test: condition, yes, no }, scope) => {
    if (isTrue(evaluate(condition, scope))) return evaluate(yes, scope);
    return no ? evaluate(no, scope) : new Undefined('the other value of an inline if');
  },
  or: ({ left, right }, scope) => {
    const value = evaluate(left, scope);
    return isTrue(value) ? value : evaluate(right, scope);
  },
  and: ({ left, right }, scope) => {
    const value = evaluate(left, scope);
    return isTrue(value) ? evaluate(right, scope) : value;
  },
  not: ({ value }, scope) => !isTrue(evaluate(value, scope)),
  compare: ({ first, rest }, scope) => {
    let left = used(evaluate(first, scope));
    for (const [op, node] of rest) {
      const right = used(evaluate(node, scope));
      if (!COMPARE[op](left, right)) return false;
      left = right;
    }
    return true;
  },
  binary: ({ op, left, right }, scope) => {
    const [a, b] = [evaluate(left, scope), evaluate(right, scope)];
    return op === '~' ? joined([print(a), print(b)], '') : arithmetic(op, a, b);
  },
  unary: ({ op, value }, scope) => (op === '-' ? arithmetic('-', 0n, evaluate(value, scope)) : arithmetic('+', 0n, evaluate(value, scope))),
  attribute: ({ value, name }, scope) => attribute(evaluate(value, scope), name),
  item: ({ value, index }, scope) => {
    const at = evaluate(index, scope);
    if (typeof at === 'string' && at.startsWith('_')) throw new TemplateError(`access to ${at} is not allowed`);
    return item(evaluate(value, scope), at);
  },
  slice: ({ value, ...bounds }, scope) => {
    const [start, stop, step] = [bounds.start, bounds.stop, bounds.step].map((node) => (node ? used(evaluate(node, scope)) : null));
    return slice(evaluate(value, scope), start, stop, step);
  },
  call: ({ value, args, named }, scope) => {
    const target = used(evaluate(value, scope));
    if (typeof target !== 'function') throw new TemplateError('what is called is no function');
    step();
    return target(args.map((arg) => evaluate(arg, scope)), byName(named, scope));
  },
  filter: ({ value, name, args, named }, scope) => filtered(name, evaluate(value, scope), args, named, scope),
  test: ({ value, name, args }, scope) => test(name, evaluate(value, scope), args.map((arg) => evaluate(arg, scope))),
};

const evaluate = (node, scope) => EVALUATE[node.kind](node, scope);
const byName = (named, scope) => Object.fromEntries(named.map(([name, node]) => [name, evaluate(node, scope)]));
const filtered = (name, value, args, named, scope) => filter(name, value, args.map((arg) => used(evaluate(arg, scope))), byName(named, scope));

function loopVariable(items, index, depth) {
  const length = BigInt(items.length);
  const at = BigInt(index);
  return new Map([
    ['index', at + 1n], ['index0', at], ['revindex', length - at], ['revindex0', length - at - 1n],
    ['first', index === 0], ['last', index === items.length - 1], ['length', length],
    ['depth', BigInt(depth)], ['depth0', BigInt(depth - 1)],
    ['previtem', index > 0 ? items[index - 1] : new Undefined('previtem')],
    ['nextitem', index < items.length - 1 ? items[index + 1] : new Undefined('nextitem')],
    ['cycle', (args) => args[index % args.length]],
  ]);
}

/** `loop` of a recursive loop can be called, and has its members all the same. */
function callable(recurse, members) {
  const loop = (args) => recurse(args);
  loop.members = members;
  return loop;
}

function runLoop(node, scope, values, depth) {
  let items = iterate(values);
  if (node.condition) {
    items = items.filter((each) => {
      step();
      const inner = new Scope(scope);
      inner.assign(node.target, each);
      return isTrue(evaluate(node.condition, inner));
    });
  }
  if (items.length === 0) return run(node.otherwise, scope);
  const recurse = ([deeper]) => nested(() => runLoop(node, scope, deeper, depth + 1));
  return items.map((each, index) => {
    step();
    const inner = new Scope(scope);
    // Few bodies look at it, and a long loop would spend most of its time on it.
    inner.names.set('loop', new Lazy(() => {
      const variable = loopVariable(items, index, depth);
      return node.recursive ? callable(recurse, variable) : variable;
    }));
    inner.assign(node.target, each);
    return run(node.body, inner);
  }).join('');
}

function macro({ parameters, body }, scope, caller = null) {
  return (args, named = {}) => {
    if (args.length > parameters.length) throw new TemplateError('a macro was given too many arguments');
    const inner = new Scope(scope);
    parameters.forEach(({ name, fallback }, index) => {
      const given = index < args.length ? args[index] : named[name];
      inner.names.set(name, given !== undefined ? given : fallback ? evaluate(fallback, inner) : new Undefined(name));
    });
    if (caller ?? named.caller) inner.names.set('caller', caller ?? named.caller);
    return nested(() => run(body, inner));
  };
}

function charged(text) {
  characters(text.length);
  return text;
}

const RUN = {
  text: ({ text }) => charged(text),
  output: ({ value }, scope) => charged(print(evaluate(value, scope))),
  branches: ({ branches }, scope) => {
    const taken = branches.find(({ test: condition }) => condition === null || isTrue(evaluate(condition, scope)));
    return taken ? run(taken.body, scope) : '';
  },
  for: (node, scope) => runLoop(node, scope, evaluate(node.items, scope), 1),
  set: ({ target, value, filters, body }, scope) => {
    let result = value ? evaluate(value, scope) : run(body, new Scope(scope));
    for (const { name, args, named } of filters ?? []) result = filtered(name, result, args, named, scope);
    made(result);
    if (target.object === undefined) scope.assign(target, result);
    else {
      const space = scope.get(target.object);
      if (!(space instanceof Namespace)) throw new TemplateError('only a namespace has members that can be set');
      space.members.set(target.name, result);
    }
    return '';
  },
  macro: (node, scope) => {
    scope.names.set(node.name, macro(node, scope));
    return '';
  },
  callBlock: ({ parameters, value, body }, scope) => {
    const target = used(evaluate(value.value, scope));
    if (typeof target !== 'function') throw new TemplateError('what is called is no function');
    const named = { ...byName(value.named, scope), caller: macro({ parameters, body }, scope) };
    return print(target(value.args.map((arg) => evaluate(arg, scope)), named));
  },
  filtered: ({ filters, body }, scope) =>
    print(filters.reduce((text, { name, args, named }) => filtered(name, text, args, named, scope), run(body, new Scope(scope)))),
  with: ({ assignments, body }, scope) => {
    const inner = new Scope(scope);
    assignments.forEach(({ target, value }) => inner.assign(target, evaluate(value, scope)));
    return run(body, inner);
  },
};

const run = (nodes, scope) => nodes.map((node) => RUN[node.kind](node, scope)).join('');

/** The text of `template` over `variables`, a Map; a `TemplateError` for whatever goes wrong. */
export function render(template, variables) {
  try {
    return withBudget(() => run(parseTemplate(template), new Scope(new Scope(null, variables))));
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(error.message || error.name);
  }
}


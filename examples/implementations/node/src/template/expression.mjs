/** Parsing the expressions of templates, by Jinja's precedence. */

import { TemplateError } from './lex.mjs';

const COMPARISONS = ['==', '!=', '<', '>', '<=', '>='];
const CONSTANTS = { true: true, True: true, false: false, False: false, none: null, None: null };

export class ExpressionParser {
  constructor(tokens, line) {
    this.tokens = tokens;
    this.line = line;
    this.at = 0;
  }

  fail(message = 'syntax error') {
    const token = this.tokens[this.at];
    throw new TemplateError(token ? `${message} at ${JSON.stringify(String(token.value))}` : `${message} at the end of the tag`, this.line);
  }

  peek(value, type = 'op') {
    const token = this.tokens[this.at];
    return token !== undefined && token.type === type && token.value === value;
  }

  accept(value, type = 'op') {
    const found = this.peek(value, type);
    if (found) this.at += 1;
    return found;
  }

  word(value) {
    return this.accept(value, 'name');
  }

  expect(value, type = 'op') {
    if (!this.accept(value, type)) this.fail(`${value} expected`);
  }

  name() {
    const token = this.tokens[this.at];
    if (token?.type !== 'name') this.fail('a name expected');
    this.at += 1;
    return token.value;
  }

  end() {
    if (this.at < this.tokens.length) this.fail('unexpected');
  }

  /** Several expressions with commas between are a list. */
  tuple() {
    const first = this.expression();
    if (!this.peek(',')) return first;
    const items = [first];
    while (this.accept(',')) if (this.at < this.tokens.length) items.push(this.expression());
    return { kind: 'list', items };
  }

  expression() {
    let value = this.or();
    while (this.word('if')) {
      const test = this.or();
      const otherwise = this.word('else') ? this.expression() : null;
      value = { kind: 'if', test, yes: value, no: otherwise };
    }
    return value;
  }

  or() {
    let left = this.and();
    while (this.word('or')) left = { kind: 'or', left, right: this.and() };
    return left;
  }

  and() {
    let left = this.not();
    while (this.word('and')) left = { kind: 'and', left, right: this.not() };
    return left;
  }

  not() {
    return this.word('not') ? { kind: 'not', value: this.not() } : this.compare();
  }

  compare() {
    const first = this.sum();
    const rest = [];
    for (;;) {
      const op = COMPARISONS.find((candidate) => this.accept(candidate));
      if (op) rest.push([op, this.sum()]);
      else if (this.word('in')) rest.push(['in', this.sum()]);
      else if (this.peek('not', 'name') && this.tokens[this.at + 1]?.value === 'in') {
        this.at += 2;
        rest.push(['not in', this.sum()]);
      } else break;
    }
    return rest.length > 0 ? { kind: 'compare', first, rest } : first;
  }

  binary(operators, next) {
    let left = next();
    for (;;) {
      const op = operators.find((candidate) => this.accept(candidate));
      if (!op) return left;
      left = { kind: 'binary', op, left, right: next() };
    }
  }

  sum() {
    return this.binary(['+', '-'], () => this.binary(['~'], () => this.binary(['*', '//', '/', '%'], () => this.power())));
  }

  power() {
    return this.binary(['**'], () => this.unary(true));
  }

  unary(withFilters) {
    for (const op of ['-', '+']) {
      if (this.accept(op)) {
        const value = { kind: 'unary', op, value: this.unary(false) };
        return withFilters ? this.filters(value) : value;
      }
    }
    const value = this.postfix(this.primary());
    return withFilters ? this.filters(value) : value;
  }

  primary() {
    const token = this.tokens[this.at];
    if (!token) this.fail('an expression expected');
    if (token.type === 'name') {
      this.at += 1;
      return Object.hasOwn(CONSTANTS, token.value) ? { kind: 'constant', value: CONSTANTS[token.value] } : { kind: 'name', name: token.value };
    }
    if (token.type === 'number') {
      this.at += 1;
      return { kind: 'constant', value: token.value };
    }
    if (token.type === 'string') {
      let value = '';
      while (this.tokens[this.at]?.type === 'string') value += this.tokens[this.at++].value; // eslint-disable-line no-plusplus
      return { kind: 'constant', value };
    }
    if (this.accept('(')) {
      if (this.accept(')')) return { kind: 'list', items: [] };
      const items = [this.expression()];
      const isTuple = this.peek(',');
      while (this.accept(',')) if (!this.peek(')')) items.push(this.expression());
      this.expect(')');
      return isTuple ? { kind: 'list', items } : items[0];
    }
    if (this.accept('[')) return { kind: 'list', items: this.until(']', () => this.expression()) };
    if (this.accept('{')) {
      return { kind: 'object', members: this.until('}', () => {
        const name = this.expression();
        this.expect(':');
        return [name, this.expression()];
      }) };
    }
    return this.fail();
  }

  until(closing, read) {
    const items = [];
    while (!this.accept(closing)) {
      if (items.length > 0) {
        this.expect(',');
        if (this.accept(closing)) break;
      }
      items.push(read());
    }
    return items;
  }

  postfix(first) {
    let value = first;
    for (;;) {
      if (this.accept('.')) {
        const token = this.tokens[this.at];
        this.at += 1;
        if (token?.type === 'name') value = { kind: 'attribute', value, name: token.value };
        else if (typeof token?.value === 'bigint') value = { kind: 'item', value, index: { kind: 'constant', value: token.value } };
        else this.fail('a name expected');
      } else if (this.accept('[')) value = this.subscript(value);
      else if (this.accept('(')) value = { kind: 'call', value, ...this.args() };
      else return value;
    }
  }

  subscript(value) {
    const part = () => (this.peek(':') || this.peek(']') ? null : this.expression());
    const start = part();
    if (this.accept(']')) return start ? { kind: 'item', value, index: start } : this.fail();
    this.expect(':');
    const stop = part();
    const step = this.accept(':') ? part() : null;
    this.expect(']');
    return { kind: 'slice', value, start, stop, step };
  }

  args() {
    const named = [];
    const args = this.until(')', () => {
      if (this.tokens[this.at]?.type === 'name' && this.tokens[this.at + 1]?.value === '=') {
        const name = this.name();
        this.at += 1;
        named.push([name, this.expression()]);
        return null;
      }
      return this.expression();
    }).filter((arg) => arg !== null);
    return { args, named };
  }

  filters(first) {
    let value = first;
    for (;;) {
      if (this.accept('|')) value = { kind: 'filter', value, ...this.filter() };
      else if (this.word('is')) {
        const negated = this.word('not');
        const test = this.test();
        value = negated ? { kind: 'not', value: { kind: 'test', value, ...test } } : { kind: 'test', value, ...test };
      } else if (this.accept('(')) value = this.postfix({ kind: 'call', value, ...this.args() });
      else return value;
    }
  }

  filter() {
    const name = this.name();
    return { name, ...(this.accept('(') ? this.args() : { args: [], named: [] }) };
  }

  /** A test may take one argument without parentheses: `is divisibleby 3`. */
  test() {
    const name = this.name();
    if (this.accept('(')) return { name, ...this.args() };
    const token = this.tokens[this.at];
    const isWord = token?.type === 'name' && !['else', 'or', 'and', 'is', 'if', 'in', 'not'].includes(token.value);
    const isValue = token && (isWord || token.type === 'number' || token.type === 'string' || ['[', '{', '-'].includes(token.value));
    return { name, args: isValue ? [this.unary(false)] : [], named: [] };
  }
}

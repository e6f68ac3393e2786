/** Parsing the statements of templates. Nothing can be imported, included or inherited. */

import { ExpressionParser } from './expression.mjs';
import { lex, TemplateError } from './lex.mjs';

/** As deep as loops may stand in one another: a template that goes deeper was not written by a person. */
const MAX_LOOPS = 20;

const MAX_CHARACTERS = 1_000_000;
const MAX_TOKENS = 20_000;

class Parser {
  constructor(parts) {
    this.parts = parts;
    this.at = 0;
    this.loops = 0;
  }

  /** Nodes up to a statement called one of `ends`, which is given back as an open expression parser. */
  body(ends) {
    const nodes = [];
    for (; this.at < this.parts.length; ) {
      const part = this.parts[this.at];
      this.at += 1;
      if (part.text !== undefined) nodes.push({ kind: 'text', text: part.text });
      else if (part.tag === '{{') {
        const parser = new ExpressionParser(part.tokens, part.line);
        nodes.push({ kind: 'output', value: parser.tuple(), line: part.line });
        parser.end();
      } else {
        const parser = new ExpressionParser(part.tokens, part.line);
        const name = parser.name();
        if (ends.includes(name)) return { nodes, end: name, parser };
        nodes.push({ ...this.statement(name, parser), line: part.line });
      }
    }
    if (ends.length > 0) throw new TemplateError(`${ends.join(' or ')} expected`, this.parts.at(-1)?.line ?? 1);
    return { nodes };
  }

  closed({ nodes, parser }) {
    parser.end();
    return nodes;
  }

  statement(name, parser) {
    switch (name) {
      case 'if': return this.if(parser);
      case 'for': return this.for(parser);
      case 'set': return this.set(parser);
      case 'macro': return this.macro(parser);
      case 'call': return this.call(parser);
      case 'filter': {
        const filters = [parser.filter()];
        while (parser.accept('|')) filters.push(parser.filter());
        parser.end();
        return { kind: 'filtered', filters, body: this.closed(this.body(['endfilter'])) };
      }
      case 'with': return this.with(parser);
      default: throw new TemplateError(`the statement ${name} is not known`, parser.line);
    }
  }

  if(parser) {
    const branches = [];
    let test = parser.tuple();
    parser.end();
    for (;;) {
      const part = this.body(test ? ['elif', 'else', 'endif'] : ['endif']);
      branches.push({ test, body: part.nodes });
      if (part.end === 'elif') test = part.parser.tuple();
      else if (part.end === 'else') test = null;
      part.parser.end();
      if (part.end === 'endif') return { kind: 'branches', branches };
    }
  }

  targets(parser) {
    const read = () => {
      if (!parser.accept('(')) return parser.name();
      const inner = this.targets(parser);
      parser.expect(')');
      return inner;
    };
    const names = [read()];
    while (parser.accept(',')) names.push(read());
    return names.length === 1 ? names[0] : names;
  }

  for(parser) {
    this.loops += 1;
    if (this.loops > MAX_LOOPS) throw new TemplateError(`loops nest deeper than ${MAX_LOOPS}`, parser.line);
    const target = this.targets(parser);
    parser.expect('in', 'name');
    const items = parser.or(); // a following `if` filters the items
    const condition = parser.word('if') ? parser.expression() : null;
    const recursive = parser.word('recursive');
    parser.end();
    const part = this.body(['else', 'endfor']);
    part.parser.end();
    const otherwise = part.end === 'else' ? this.closed(this.body(['endfor'])) : [];
    this.loops -= 1;
    return { kind: 'for', target, items, condition, recursive, body: part.nodes, otherwise };
  }

  set(parser) {
    let target = this.targets(parser);
    if (typeof target === 'string' && parser.accept('.')) target = { object: target, name: parser.name() };
    if (parser.accept('=')) {
      const value = parser.tuple();
      parser.end();
      return { kind: 'set', target, value };
    }
    const filters = [];
    while (parser.accept('|')) filters.push(parser.filter());
    parser.end();
    return { kind: 'set', target, filters, body: this.closed(this.body(['endset'])) };
  }

  parameters(parser) {
    return parser.until(')', () => {
      const name = parser.name();
      return { name, fallback: parser.accept('=') ? parser.expression() : null };
    });
  }

  macro(parser) {
    const name = parser.name();
    parser.expect('(');
    const parameters = this.parameters(parser);
    parser.end();
    const { loops } = this;
    this.loops = 0; // a macro is called from anywhere, so its loops stand in none
    const body = this.closed(this.body(['endmacro']));
    this.loops = loops;
    return { kind: 'macro', name, parameters, body };
  }

  call(parser) {
    const parameters = parser.accept('(') ? this.parameters(parser) : [];
    const value = parser.expression();
    if (value.kind !== 'call') parser.fail('a call expected');
    parser.end();
    return { kind: 'callBlock', parameters, value, body: this.closed(this.body(['endcall'])) };
  }

  with(parser) {
    const assignments = [];
    while (parser.at < parser.tokens.length) {
      if (assignments.length > 0) parser.expect(',');
      const target = this.targets(parser);
      parser.expect('=');
      assignments.push({ target, value: parser.expression() });
    }
    return { kind: 'with', assignments, body: this.closed(this.body(['endwith'])) };
  }
}

/** The statements of a template; what is longer than any person writes is refused before it is read. */
export function parseTemplate(template) {
  if (template.length > MAX_CHARACTERS && [...template].length > MAX_CHARACTERS) throw new TemplateError(`a template of more than ${MAX_CHARACTERS} characters`);
  const parts = lex(template);
  const tokens = parts.reduce((sum, part) => sum + (part.tokens ? part.tokens.length + 2 : 0), 0);
  if (tokens > MAX_TOKENS) throw new TemplateError(`a template of more than ${MAX_TOKENS} tokens`);
  return new Parser(parts).body([]).nodes;
}

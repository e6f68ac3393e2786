/**
 * Cutting a template into text, output tags and block tags, and their insides into tokens.
 *
 * Line breaks after block tags and blanks before them are dropped (`trim_blocks`, `lstrip_blocks`), and one line break
 * at the end of the template.
 */

/** A template that cannot be rendered; `line` where it is known. */
export class TemplateError extends Error {
  constructor(message, line = null) {
    super(message);
    this.name = 'TemplateError';
    this.line = line;
  }
}

const TOKEN = /\s+|([\p{L}_][\p{L}\p{N}_]*)|([0-9](?:_?[0-9])*(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9]+)?)|("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|(\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>=.,:|()[\]{}])/uy;
const ESCAPES = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\\': '\\', '"': '"', "'": "'", '\n': '' };

const unquote = (text) =>
  text.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))/g, (whole, u, x, char) => {
    if (u || x) return String.fromCharCode(parseInt(u || x, 16));
    return Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : whole;
  });

/** Tokens of an expression or a statement: `{type, value}` with `name`, `number`, `string`, `op`. */
function tokenize(source, line) {
  const tokens = [];
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(source);
    if (!found) throw new TemplateError(`unexpected character ${JSON.stringify(source[at])}`, line);
    at = TOKEN.lastIndex;
    const [, name, number, string, op] = found;
    if (name) tokens.push({ type: 'name', value: name });
    else if (number) {
      const digits = number.replaceAll('_', '');
      tokens.push({ type: 'number', value: /[.eE]/.test(digits) ? Number(digits) : BigInt(digits) });
    } else if (string) tokens.push({ type: 'string', value: unquote(string) });
    else if (op) tokens.push({ type: 'op', value: op });
  }
  return tokens;
}

/** Where the tag that opens at `at` ends: quotes inside are respected, as `}}` may stand in a string. */
function tagEnd(source, at, closing, line) {
  for (let i = at; i < source.length; i += 1) {
    if (source.startsWith(closing, i)) return i;
    if (source[i] === '"' || source[i] === "'") {
      const quote = source[i];
      for (i += 1; i < source.length && source[i] !== quote; i += 1) if (source[i] === '\\') i += 1;
    }
  }
  throw new TemplateError(`a tag is not closed with ${closing}`, line);
}

const OPENING = /\{[{%#]/g;
const CLOSING = { '{{': '}}', '{%': '%}' };
const ENDRAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;

/** The parts of a template: `{text}`, or `{tag: '{{' | '{%', tokens, line}`. */
export function lex(template) {
  const source = template.replace(/\r\n|\r/g, '\n').replace(/\n$/, '');
  const parts = [];
  let at = 0;
  let trim = false; // the last tag ended with `-`: blanks after it go
  let counted = 0;
  let lines = 1;
  /** Lines are counted once: each tag goes on from the one before. */
  const lineAt = (index) => {
    for (; counted < index; counted += 1) if (source[counted] === '\n') lines += 1;
    return lines;
  };
  const text = (piece, tag, control) => {
    let kept = trim ? piece.trimStart() : piece;
    if (control === '-') kept = kept.trimEnd();
    // Only where nothing but blanks stands between the start of the line and the tag.
    else if (tag && tag !== '{{' && control !== '+') kept = stripLine(kept, piece);
    if (kept) parts.push({ text: kept });
    trim = false;
  };
  const stripLine = (kept, piece) => {
    const start = kept.lastIndexOf('\n') + 1;
    const isLineStart = start > 0 || (kept.length === piece.length && (at === 0 || source[at - 1] === '\n'));
    return isLineStart && /^[ \t]*$/.test(kept.slice(start)) ? kept.slice(0, start) : kept;
  };
  /** After a tag: what its end says of the text that follows. */
  const after = (end, control, isBlock) => {
    at = end;
    trim = control === '-';
    if (isBlock && control === '' && source[at] === '\n') at += 1;
  };
  for (;;) {
    OPENING.lastIndex = at;
    const start = OPENING.exec(source)?.index;
    if (start === undefined) break;
    const tag = source.slice(start, start + 2);
    const control = /[-+]/.test(source[start + 2] ?? '') ? source[start + 2] : '';
    const line = lineAt(start);
    text(source.slice(at, start), tag, control);
    const inside = start + 2 + control.length;
    if (tag === '{#') {
      const end = source.indexOf('#}', inside);
      if (end < 0) throw new TemplateError('a comment is not closed with #}', line);
      after(end + 2, /[-+]/.test(source[end - 1]) && end > inside ? source[end - 1] : '', true);
      continue;
    }
    const end = tagEnd(source, inside, CLOSING[tag], line);
    const closing = /[-+]/.test(source[end - 1]) && end - 1 >= inside && (tag === '{%' || source[end - 1] === '-') ? source[end - 1] : '';
    const tokens = tokenize(source.slice(inside, end - closing.length), line);
    after(end + 2, closing, tag === '{%');
    if (tag === '{%' && tokens.length === 1 && tokens[0].value === 'raw') {
      ENDRAW.lastIndex = at;
      const raw = ENDRAW.exec(source);
      if (!raw) throw new TemplateError('raw is not closed with endraw', line);
      text(source.slice(at, raw.index), '{%', raw[1]);
      after(raw.index + raw[0].length, raw[2], true);
    } else parts.push({ tag, tokens, line });
  }
  text(source.slice(at), null, '');
  return parts;
}

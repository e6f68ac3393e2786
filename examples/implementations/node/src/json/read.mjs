/**
 * Reading JSON text: RFC 8259 and nothing beyond.
 *
 * `JSON.parse` would lose digits, the difference of `1` and `1.0`, the order of names like "10", and the keys that
 * stand twice. So the reader is our own; it also says where it stopped, in lines, columns and code points.
 */

export class JsonError extends Error {
  /** `index` counts UTF-16 units of `text`; the place that people read counts code points. */
  constructor(reason, text, index) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a reply may hold a hundred thousand malformed objects: a trace costs more than reading one
    super();
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
    this.text = text;
    this.index = index;
  }

  get name() {
    return 'JsonError';
  }

  /** Made when asked for, for the same reason. */
  get place() {
    return placeOf(this.text, this.index);
  }

  get message() {
    return `${this.reason}: ${this.place}`;
  }
}

const codePoints = (text) => {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i += 1) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
};

export function placeOf(text, index) {
  const before = text.slice(0, index);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  return `line ${line} column ${codePoints(before.slice(lineStart)) + 1} (char ${codePoints(before)})`;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const BLANK = /[ \t\n\r]*/y;
const OUTER_BLANK = /[ \t\n\r\ufeff]*/y;
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS = [['true', true], ['false', false], ['null', null]];

/** The depth and the ranges that texts of models are held to. */
export const STRICT = { maxDepth: 100, bounded: true };
/** What the wire and the examples may hold: half surrogates, integers beyond a double, any sane depth. */
export const LENIENT = { maxDepth: 2000, bounded: false };

class Reader {
  constructor(text, limits) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
    this.limits = limits;
    this.duplicates = [];
  }

  fail(reason, index = this.at) {
    throw new JsonError(reason, this.text, index);
  }

  skip(blanks) {
    blanks.lastIndex = this.at;
    this.at += blanks.exec(this.text)[0].length;
  }

  document() {
    this.skip(OUTER_BLANK);
    const value = this.value();
    this.skip(OUTER_BLANK);
    if (this.at < this.text.length) this.fail('extra data after the value');
    return value;
  }

  value() {
    const char = this.text[this.at];
    if (char === '{') return this.nested(() => this.object());
    if (char === '[') return this.nested(() => this.array());
    if (char === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  nested(read) {
    if (this.depth === this.limits.maxDepth) this.fail(`nested deeper than ${this.limits.maxDepth}`);
    this.depth += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  object() {
    const result = new Map();
    const twice = new Set();
    this.at += 1;
    this.skip(BLANK);
    if (this.text[this.at] === '}') this.at += 1;
    else {
      for (;;) {
        if (this.text[this.at] !== '"') this.fail('a name in double quotes expected');
        const name = this.string();
        this.skip(BLANK);
        if (this.text[this.at] !== ':') this.fail('a colon expected');
        this.at += 1;
        this.skip(BLANK);
        if (result.has(name)) twice.add(name);
        result.set(name, this.value());
        if (this.more('}')) break;
      }
    }
    this.duplicates.push(...twice);
    return result;
  }

  array() {
    const result = [];
    this.at += 1;
    this.skip(BLANK);
    if (this.text[this.at] === ']') {
      this.at += 1;
      return result;
    }
    do result.push(this.value());
    while (!this.more(']'));
    return result;
  }

  /** After a member or an item: true at the closing bracket, false when a comma brings another one. */
  more(closing) {
    this.skip(BLANK);
    const char = this.text[this.at];
    if (char !== ',' && char !== closing) this.fail(`a comma or ${closing} expected`);
    this.at += 1;
    if (char === closing) return true;
    this.skip(BLANK);
    return false;
  }

  number() {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (!found) this.fail('a value expected');
    const [digits, fraction, exponent] = found;
    if (this.limits.bounded && !Number.isFinite(Number(digits))) this.fail('a number too large for a double');
    this.at += digits.length;
    return fraction || exponent ? Number(digits) : BigInt(digits);
  }

  string() {
    const start = this.at;
    let result = '';
    this.at += 1;
    for (;;) {
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text)[0];
      result += plain;
      this.at += plain.length;
      const char = this.text[this.at];
      if (char === undefined) this.fail('a string that never ends', start);
      if (char === '"') break;
      if (char !== '\\') this.fail('a control character in a string');
      result += this.escape();
    }
    this.at += 1;
    if (this.limits.bounded && !result.isWellFormed()) this.fail('half of a surrogate pair', start);
    return result;
  }

  escape() {
    const char = this.text[this.at + 1];
    if (char === 'u') {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('four hexadecimal digits expected');
      this.at += 6;
      return String.fromCharCode(parseInt(digits, 16));
    }
    if (!Object.hasOwn(ESCAPES, char)) this.fail('an escape that JSON does not have');
    this.at += 2;
    return ESCAPES[char];
  }
}

/** The value of a JSON text; a `JsonError` if it is none. */
export const readJson = (text, limits = STRICT) => new Reader(text, limits).document();

/** `{value, duplicates}`: the names that stand twice in one object, those of inner objects first. */
export function readJsonWithDuplicates(text, limits = STRICT) {
  const reader = new Reader(text, limits);
  return { value: reader.document(), duplicates: reader.duplicates };
}

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

/** As far as a number can be read; what is missing of it shows in the groups. */
const NUMBER = /(-?)(?:(0)(?=[0-9])|(0|[1-9][0-9]*))?(\.([0-9]*))?([eE][+-]?([0-9]*))?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const BLANK = /[ \t\n\r]*/y;
const OUTER_BLANK = /[ \t\n\r\ufeff]*/y;
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS = [['true', true], ['false', false], ['null', null]];
const WORD = /[a-z]+/y;

/** Where the blanks at the end of a text begin; a pattern bound to the end would look at each run of blanks again and again. */
export function blankEnd(text) {
  let end = text.length;
  while (end > 0 && ' \t\n\r\ufeff'.includes(text[end - 1])) end -= 1;
  return end;
}

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

  /** A text that ends too early is wrong at its end, blanks at the end aside. */
  fail(reason, index = this.at) {
    throw new JsonError(reason, this.text, Math.min(index, blankEnd(this.text)));
  }

  failAtEnd(reason) {
    throw new JsonError(reason, this.text, blankEnd(this.text));
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
    return /[-0-9]/.test(char ?? '') ? this.number() : this.word();
  }

  word() {
    WORD.lastIndex = this.at;
    const found = WORD.exec(this.text)?.[0] ?? '';
    for (const [word, value] of WORDS) {
      if (found === word) {
        this.at += word.length;
        return value;
      }
      if (found !== '' && word.startsWith(found) && this.at + found.length === this.text.length) this.failAtEnd('a value that is cut off');
    }
    return this.fail('a value expected');
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
    const comma = this.at - 1;
    this.skip(BLANK);
    if (this.text[this.at] === closing) this.fail('a comma that a closing bracket follows', comma);
    return false;
  }

  number() {
    NUMBER.lastIndex = this.at;
    const [digits, sign, leadingZero, whole, fraction, decimals, exponent, power] = NUMBER.exec(this.text);
    if (leadingZero) this.fail('a leading zero', this.at + sign.length);
    if (whole === undefined) this.fail('a digit expected', this.at + sign.length);
    const fractionEnd = this.at + sign.length + whole.length + (fraction?.length ?? 0);
    if (decimals === '') this.fail('a digit expected', fractionEnd);
    if (power === '') this.fail('a digit expected', this.at + digits.length);
    if (this.limits.bounded && !Number.isFinite(Number(digits))) this.fail('a number too large for a double');
    this.at += digits.length;
    return fraction || exponent ? Number(digits) : BigInt(digits);
  }

  string() {
    let result = '';
    this.at += 1;
    for (;;) {
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text)[0];
      if (this.limits.bounded && !plain.isWellFormed()) this.fail('half of a surrogate pair', this.at + halfAt(plain));
      result += plain;
      this.at += plain.length;
      const char = this.text[this.at];
      if (char === undefined) this.failAtEnd('a string that never ends');
      if (char === '"') break;
      if (char !== '\\') this.fail('a control character in a string');
      result += this.escape();
    }
    this.at += 1;
    return result;
  }

  escape() {
    const start = this.at;
    const char = this.text[start + 1];
    if (char === undefined) this.failAtEnd('a string that never ends');
    if (char !== 'u') {
      if (!Object.hasOwn(ESCAPES, char)) this.fail('an escape that JSON does not have', start);
      this.at += 2;
      return ESCAPES[char];
    }
    const first = this.unit(start);
    const isHigh = (first & 0xfc00) === 0xd800;
    if (!this.limits.bounded || (first & 0xf800) !== 0xd800) return String.fromCharCode(first);
    if (!isHigh || !this.text.startsWith('\\u', this.at)) this.fail('half of a surrogate pair', start);
    const second = this.unit(this.at);
    if ((second & 0xfc00) !== 0xdc00) this.fail('half of a surrogate pair', start);
    return String.fromCharCode(first, second);
  }

  /** The number of the `\u` escape at `start`. */
  unit(start) {
    const digits = this.text.slice(start + 2, start + 6);
    const good = /^[0-9a-fA-F]*/.exec(digits)[0];
    if (good.length < 4 && start + 2 + good.length === this.text.length) this.failAtEnd('a string that never ends');
    if (good.length < 4) this.fail('an escape that JSON does not have', start);
    this.at = start + 6;
    return parseInt(digits, 16);
  }
}

const halfAt = (text) => {
  let at = 0;
  for (const char of text) {
    if (!char.isWellFormed()) return at;
    at += char.length;
  }
  return at;
};

/** The first bracket that is one too many, or -1: depth is bounded whatever else is wrong. */
function tooDeep(text, maxDepth) {
  let depth = 0;
  const token = /"[^"\\]*(?:\\[^][^"\\]*)*"?|[[\]{}]/g;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    if (found[0] === '[' || found[0] === '{') depth += 1;
    else if (found[0] === ']' || found[0] === '}') depth -= 1;
    if (depth > maxDepth) return found.index;
  }
  return -1;
}

function document(reader) {
  try {
    return reader.document();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { text, limits: { maxDepth } } = reader;
    const deep = tooDeep(text, maxDepth);
    if (deep >= 0) throw new JsonError(`nested deeper than ${maxDepth}`, text, deep);
    throw error;
  }
}

/** The value of a JSON text; a `JsonError` if it is none. */
export const readJson = (text, limits = STRICT) => document(new Reader(text, limits));

/** `{value, duplicates}`: the names that stand twice in one object, those of inner objects first. */
export function readJsonWithDuplicates(text, limits = STRICT) {
  const reader = new Reader(text, limits);
  return { value: document(reader), duplicates: [...new Set(reader.duplicates)] };
}

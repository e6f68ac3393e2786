/**
 * Mending an almost-JSON object, on request only.
 *
 * A reader that takes a few faults, each with a name, and nothing else: a repair has one reading, or it is a guess.
 */

import { isObject } from '../json/values.mjs';
import { WORD } from './scan.mjs';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** The blanks after the fence stand with it: two runs of them beside each other would be tried in every division. */
const END = /[ \t\n\r\ufeff]*(?:```[ \t\n\r\ufeff]*)?$/y;
const QUOTES = { '"': ['"', null], "'": ["'", 'single quotes'], '‘': ['’', 'curly quotes'], '“': ['”', 'curly quotes'] };
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const LITERALS = { true: true, false: false, null: null };
const PYTHON = { True: true, False: false, None: null };
const NO_VALUE = ['NaN', 'nan', 'Infinity', 'inf', 'undefined'];
const MAX_DEPTH = 100;

class Unmendable extends Error {}

const fail = () => {
  throw new Unmendable();
};

class Mender {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
    this.repairs = [];
    this.duplicates = [];
  }

  note(name) {
    if (!this.repairs.includes(name)) this.repairs.push(name);
  }

  blanks() {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  /** Only blanks and one closing fence may follow. */
  atEnd() {
    return this.match(END) !== undefined;
  }

  document(alone) {
    const value = this.value();
    if ((alone && !this.atEnd()) || !isObject(value)) fail();
    return value;
  }

  value() {
    const char = this.text[this.at];
    if (char === '{' || char === '[') {
      this.depth += 1;
      if (this.depth > MAX_DEPTH) fail();
      const value = char === '{' ? this.object() : this.array();
      this.depth -= 1;
      return value;
    }
    if (Object.hasOwn(QUOTES, char)) return this.string();
    return /[-0-9]/.test(char ?? '') ? this.number() : this.word();
  }

  object() {
    const result = new Map();
    const twice = new Set();
    this.items('}', () => {
      const name = Object.hasOwn(QUOTES, this.text[this.at]) ? this.string() : this.unquotedKey();
      this.blanks();
      if (this.text[this.at] !== ':') fail();
      this.at += 1;
      this.blanks();
      if (result.has(name)) twice.add(name);
      result.set(name, this.value());
    });
    this.duplicates.push(...twice);
    return result;
  }

  array() {
    const result = [];
    this.items(']', () => result.push(this.value()));
    return result;
  }

  items(closing, read) {
    this.at += 1;
    this.blanks();
    if (this.text[this.at] === closing) {
      this.at += 1;
      return;
    }
    for (;;) {
      read();
      if (this.atEnd()) {
        this.note('missing closing bracket');
        return;
      }
      this.blanks();
      const char = this.text[this.at];
      this.at += 1;
      if (char === closing) return;
      if (char !== ',') fail();
      this.blanks();
      if (this.text[this.at] === closing) {
        this.note('trailing comma');
        this.at += 1;
        return;
      }
    }
  }

  unquotedKey() {
    const word = this.match(WORD) ?? fail();
    this.at += word.length;
    this.note('unquoted key');
    return word;
  }

  number() {
    const digits = this.match(NUMBER) ?? fail();
    this.at += digits.length;
    if (!Number.isFinite(Number(digits)) || /[\p{L}\p{N}_.+-]/u.test(this.text[this.at] ?? '')) fail();
    return /[.eE]/.test(digits) ? Number(digits) : BigInt(digits);
  }

  word() {
    const word = this.match(WORD) ?? fail();
    this.at += word.length;
    if (Object.hasOwn(LITERALS, word)) return LITERALS[word];
    if (Object.hasOwn(PYTHON, word)) {
      this.note('Python literal');
      return PYTHON[word];
    }
    // At the very end it may be half a word.
    if (NO_VALUE.includes(word) || this.atEnd()) fail();
    this.note('unquoted value');
    return word;
  }

  string() {
    const [closing, repair] = QUOTES[this.text[this.at]];
    if (repair) this.note(repair);
    let result = '';
    for (this.at += 1; ; this.at += 1) {
      const char = this.text[this.at];
      if (char === undefined) fail();
      if (char === closing) break;
      if (char === '\\') result += this.escape();
      else {
        if (char < ' ') this.note('control character in string');
        result += char;
      }
    }
    this.at += 1;
    if (!result.isWellFormed()) fail();
    return result;
  }

  /** Leaves the position at the last character of the escape. */
  escape() {
    this.at += 1;
    const char = this.text[this.at];
    if (char === "'") {
      this.note('escaped apostrophe');
      return char;
    }
    if (char === 'u') {
      const digits = this.text.slice(this.at + 1, this.at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) fail();
      this.at += 4;
      return String.fromCharCode(parseInt(digits, 16));
    }
    return Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : fail();
  }
}

/** `{object, repairs, duplicates}` of the malformed object a text begins with, or null when it cannot be mended. */
export function mend(text, { alone = false } = {}) {
  const mender = new Mender(text);
  try {
    return { object: mender.document(alone), repairs: mender.repairs, duplicates: [...new Set(mender.duplicates)] };
  } catch (error) {
    if (error instanceof Unmendable) return null;
    throw error;
  }
}

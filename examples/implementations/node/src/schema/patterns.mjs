/**
 * Patterns: ECMA-262 by code points, with the web's older forms.
 *
 * JavaScript has the two apart: flag `u` counts code points and refuses the older forms, without it they work and an
 * emoji is two characters. So a pattern is rewritten into one that flag `u` takes.
 */

import vm from 'node:vm';

const HEX = /[0-9a-fA-F]/;
const QUANTIFIER = /\{[0-9]+(?:,[0-9]*)?\}/y;
const GROUP = /\(\?(?::|=|!|<=|<!|<[^>=!][^>]*>)/y;
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/;

const literal = (char) => (SYNTAX.test(char) ? `\\${char}` : char);
const codePoint = (number) => `\\u{${number.toString(16)}}`;

class Rewriter {
  constructor(source) {
    this.source = source;
    this.at = 0;
    this.groups = 0;
    this.named = false;
    this.countGroups();
  }

  countGroups() {
    let inClass = false;
    for (let i = 0; i < this.source.length; i += 1) {
      const char = this.source[i];
      if (char === '\\') i += 1;
      else if (inClass) inClass = char !== ']';
      else if (char === '[') inClass = true;
      else if (char === '(') {
        const isNamed = /^\(\?<[^=!]/.test(this.source.slice(i, i + 4));
        this.named ||= isNamed;
        if (isNamed || this.source[i + 1] !== '?') this.groups += 1;
      }
    }
  }

  sticky(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source)?.[0];
  }

  take(text) {
    this.at += text.length;
    return text;
  }

  rewrite() {
    let out = '';
    while (this.at < this.source.length) {
      const char = this.source[this.at];
      if (char === '\\') out += this.escape(false);
      else if (char === '[') out += this.class();
      else if (char === '{') out += this.brace();
      else if (char === '}' || char === ']') out += `\\${this.take(char)}`;
      else if (char === '(' && this.source[this.at + 1] === '?') {
        out += this.take(this.sticky(GROUP) ?? '(?'); // what is no group here is left for the engine to refuse
      } else out += this.take(char);
    }
    return out;
  }

  /** A `{` that begins no quantifier is itself. */
  brace() {
    const quantifier = this.sticky(QUANTIFIER);
    if (quantifier) return this.take(quantifier);
    this.at += 1;
    return '\\{';
  }

  hex(digits, at) {
    const text = this.source.slice(at, at + digits);
    return text.length === digits && [...text].every((char) => HEX.test(char)) ? parseInt(text, 16) : null;
  }

  escape(inClass) {
    const char = this.source[this.at + 1];
    if (char === undefined) return this.take('\\'); // refused by the engine
    const rest = this.source.slice(this.at + 2);
    if (/[dDwWsS]/.test(char) || (char === 'b')) return this.take(`\\${char}`);
    if (char === 'B' && !inClass) return this.take('\\B');
    if (char === 'p' || char === 'P') {
      const property = /^\{[^}]*\}/.exec(rest);
      if (property) return this.take(`\\${char}${property[0]}`);
    }
    if (/[fnrtv]/.test(char)) return this.take(`\\${char}`);
    if (char === 'c') return this.control(rest);
    if (char === 'x' || char === 'u') return this.coded(char, rest);
    if (char === 'k' && this.named && !inClass) return this.take('\\k');
    if (/[0-9]/.test(char)) return this.digits(inClass);
    const whole = String.fromCodePoint(this.source.codePointAt(this.at + 1));
    this.at += 1 + whole.length;
    return inClass && whole === '-' ? '\\-' : literal(whole);
  }

  control(rest) {
    if (!/^[A-Za-z]/.test(rest)) return this.take('\\c') && 'c';
    this.at += 3;
    return codePoint(rest.charCodeAt(0) % 32);
  }

  coded(char, rest) {
    const braced = char === 'u' ? /^\{([0-9a-fA-F]+)\}/.exec(rest) : null;
    const number = braced ? parseInt(braced[1], 16) : this.hex(char === 'x' ? 2 : 4, this.at + 2);
    if (braced && number > 0x10ffff) return this.take(`\\u${braced[0]}`); // refused by the engine
    if (number === null) {
      this.at += 2;
      return char;
    }
    this.at += 2 + (braced ? braced[0].length : char === 'x' ? 2 : 4);
    if (!braced && (number & 0xfc00) === 0xd800 && this.source.startsWith('\\u', this.at)) {
      const low = this.hex(4, this.at + 2);
      if (low !== null && (low & 0xfc00) === 0xdc00) {
        this.at += 6;
        return codePoint(0x10000 + ((number & 0x3ff) << 10) + (low & 0x3ff));
      }
    }
    return codePoint(number);
  }

  /** A reference to a group that is there; else octal, else the digit itself. */
  digits(inClass) {
    const decimal = /^[0-9]+/.exec(this.source.slice(this.at + 1))[0];
    if (!inClass && decimal[0] !== '0' && Number(decimal) <= this.groups) {
      this.take(`\\${decimal}`);
      return `(?:\\${decimal})`; // a digit that follows must not join the number
    }
    const octal = /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(decimal);
    this.at += 1 + (octal ? octal[0].length : 1);
    return octal ? codePoint(parseInt(octal[0], 8)) : decimal[0];
  }

  class() {
    let out = this.take('[');
    if (this.source[this.at] === '^') out += this.take('^');
    for (let before = null; ; ) {
      if (this.at >= this.source.length) return out; // never closed: refused by the engine
      if (this.source[this.at] === ']') return out + this.take(']');
      const isRange = before !== null && this.source[this.at] === '-' && this.at + 1 < this.source.length
        && this.source[this.at + 1] !== ']';
      if (isRange) {
        this.at += 1;
        const after = this.classAtom();
        // `[\d-x]` holds the three of them: a set is no end of a range
        out += isSet(before) || isSet(after) ? `\\-${after}` : `-${after}`;
        before = null;
        continue;
      }
      before = this.classAtom();
      out += before;
    }
  }

  classAtom() {
    if (this.source[this.at] === '\\') return this.escape(true);
    const char = String.fromCodePoint(this.source.codePointAt(this.at));
    this.at += char.length;
    return char === '-' ? '\\-' : literal(char);
  }
}

const isSet = (atom) => /^\\[dDwWsSpP]/.test(atom);

/** What can make the engine go back and forth: any quantifier, and worse, one on a group or a reference. */
const QUANTIFIED = /[*+{]/;
const MULTIPLYING = /\)[*+{]|\\[1-9k]/;
const QUICK_TEXT = 300;
const QUICK_MULTIPLYING = 20;
const PATIENCE_MS = 250;

const context = vm.createContext({ regex: null, text: '' });
const question = new vm.Script('regex.test(text)');

/** JavaScript's engine can be interrupted only from outside: what takes too long counts as not found. */
function bounded(regex, text) {
  Object.assign(context, { regex, text });
  try {
    return question.runInContext(context, { timeout: PATIENCE_MS });
  } catch (error) {
    if (error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' || error.name === 'RangeError') return false;
    throw error;
  } finally {
    Object.assign(context, { regex: null, text: '' });
  }
}

function tester(source) {
  const regex = new RegExp(new Rewriter(source).rewrite(), 'u');
  if (!QUANTIFIED.test(source)) return (text) => regex.test(text);
  const quick = MULTIPLYING.test(source) ? QUICK_MULTIPLYING : QUICK_TEXT;
  return (text) => (text.length <= quick ? regex.test(text) : bounded(regex, text));
}

const MAX_KEPT = 1000;
const compiled = new Map();

/** The test of a pattern, `(text) => boolean`; a `SyntaxError` if it is none. */
export function compilePattern(source) {
  if (!compiled.has(source)) {
    if (compiled.size >= MAX_KEPT) compiled.clear();
    compiled.set(source, tester(source));
  }
  return compiled.get(source);
}

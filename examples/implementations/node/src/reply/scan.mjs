/**
 * Which JSON text of a reply is its answer: one scan from left to right, in linear time.
 *
 * Linear, because nothing is read again for each bracket: a value that never closes reaches to the end and is met once,
 * and an array that turns out to be prose is left where it stopped being JSON.
 */

import { blankEnd, JsonError, readJsonWithDuplicates } from '../json/read.mjs';
import { isArray, isObject } from '../json/values.mjs';
import { kindWords } from './arguments.mjs';

const OPEN = '<think>';
const CLOSE = '</think>';
const CUT_OFF = 'the JSON is cut off: its brackets never close';

/** `{` begins an object when `}` or a string and a colon follow. */
const OBJECT = /\{[ \t\n\r]*(?:\}|"[^"\\]*(?:\\[^][^"\\]*)*"[ \t\n\r]*:)/y;
const NAME = '[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_-]*';
/** `{name:` and `{'name':` begin a malformed one; typographic quotes are looked for apart, to stay linear. */
const LOOSE = new RegExp(`\\{[ \\t\\n\\r]*(?:${NAME}|(')(?:[^'\\\\\\n]|\\\\[^\\n])*')[ \\t\\n\\r]*:`, 'uy');
const CURLY = /\{[ \t\n\r]*([‘“])/y;
const CURLY_END = { '‘': '’', '“': '”' };
const COLON = /[ \t\n\r]*:/y;
const NESTED = /\[[ \t\n\r[]*(?=\{)/y;
const TOKEN = /[ \t\n\r]+|[{}[\],:]|"[^"\\]*(?:\\[^][^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** A name or a value without quotes. */
export const WORD = new RegExp(NAME, 'uy');

const matchAt = (pattern, text, at) => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** Where the string that begins at `at` ends, or -1. */
function stringEnd(text, at, quote) {
  for (let i = at + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === quote) return i + 1;
  }
  return -1;
}

/** How far the value at `start` reaches: `{end}`, `{tag}` where a tag cuts it off, or `{}` if it never closes. */
function extent(text, start, singleQuotes) {
  let depth = 0;
  for (let i = start; i < text.length; i += 1) {
    const char = text[i];
    if (char === '"' || (singleQuotes && char === "'")) {
      i = stringEnd(text, i, char) - 1;
      if (i < 0) return {};
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { end: i + 1 };
    } else if (char === '<' && (text.startsWith(OPEN, i) || text.startsWith(CLOSE, i))) return { tag: i };
  }
  return {};
}

class Scan {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.end = text.length; // a thought that never closes is not part of what can be mended
    this.looseUntil = 0; // braces of malformed objects before this place are text
    this.next = new Map();
    this.thought = false;
    this.forget();
  }

  /** What came before was a thought. */
  forget() {
    this.answer = null;
    this.candidates = [];
    this.malformed = null;
    this.array = false;
  }

  run() {
    const next = /[{[<]/g;
    while (this.at < this.text.length) {
      next.lastIndex = this.at;
      const found = next.exec(this.text);
      if (!found) break;
      this.at = found.index;
      if (found[0] === '<') this.tag();
      else if (found[0] === '{') this.brace();
      else this.bracket();
    }
    return this;
  }

  tag() {
    if (this.text.startsWith(CLOSE, this.at)) {
      this.forget();
      this.thought = true;
      this.at += CLOSE.length;
    } else if (this.text.startsWith(OPEN, this.at)) {
      const end = this.nextOf(CLOSE, this.at);
      this.thought = true;
      if (end < 0) this.end = this.at;
      this.at = end < 0 ? this.text.length : end + CLOSE.length;
    } else this.at += 1;
  }

  brace() {
    const start = this.at;
    if (matchAt(OBJECT, this.text, start)) {
      this.value(start, false);
      return;
    }
    const loose = this.loose(start);
    this.at = start + 1;
    if (loose) this.malformedObject(start, loose);
  }

  /** Whether `{name:` stands at `start`: `{quotes}`, true where single quotes quote strings inside, or null. */
  loose(start) {
    const found = matchAt(LOOSE, this.text, start);
    if (found) return { quotes: found[1] !== undefined };
    const curly = matchAt(CURLY, this.text, start);
    if (!curly) return null;
    const open = start + curly[0].length;
    const end = this.nextOf(CURLY_END[curly[1]], open);
    return end >= 0 && end < (this.nextOf('\n', open) + 1 || Infinity) && matchAt(COLON, this.text, end + 1) ? { quotes: false } : null;
  }

  /** The next such piece of text, found once for all that look for it from before. */
  nextOf(char, from) {
    const known = this.next.get(char);
    if (known === undefined || (known >= 0 && known < from)) this.next.set(char, this.text.indexOf(char, from));
    return this.next.get(char);
  }

  /** Whether the malformed object (or the array around it) at `start` closes; if not, all of its kind up to there are text. */
  malformedObject(start, { quotes }) {
    if (start < this.looseUntil) return false;
    const { end, tag } = extent(this.text, start, quotes);
    if (end !== undefined) {
      this.value(start, quotes);
      return true;
    }
    this.looseUntil = tag ?? this.text.length;
    this.malformed = () => 'the JSON object is malformed and never closes';
    // Text to the scan, but a repair may add the bracket.
    this.candidates.push(start);
    return false;
  }

  bracket() {
    const start = this.at;
    const nested = matchAt(NESTED, this.text, start);
    if (nested) {
      const brace = start + nested[0].length;
      if (matchAt(OBJECT, this.text, brace)) return this.value(start, false);
      const loose = this.loose(brace);
      if (loose && this.malformedObject(start, loose)) return undefined;
    }
    let depth = 0;
    for (this.at = start; ; ) {
      const token = matchAt(TOKEN, this.text, this.at)?.[0];
      if (token === undefined) return this.leave(start, this.at);
      this.at += token.length;
      if (token === '[' || token === '{') depth += 1;
      else if (token === ']' || token === '}') depth -= 1;
      if (depth === 0) break;
    }
    return this.close(start, this.at);
  }

  /** A value has begun at `start`; go on behind it. */
  value(start, singleQuotes) {
    const { end, tag } = extent(this.text, start, singleQuotes);
    if (end !== undefined) this.close(start, end);
    else if (tag !== undefined) {
      this.malformed = () => CUT_OFF;
      this.candidates.push(start);
      this.at = tag;
    } else if (!this.leave(start, this.text.length)) {
      this.malformed = () => CUT_OFF;
      this.candidates.push(start);
    }
  }

  /** A value that never closes, or is no JSON, hides no end of a thought. */
  leave(start, end) {
    // In the piece only: a search from its end would go back over the whole text for each bracket.
    const closing = this.text.slice(start, end).lastIndexOf(CLOSE);
    this.at = Math.max(end, start + 1);
    if (closing < 0) return false;
    this.forget();
    this.thought = true;
    this.at = start + closing + CLOSE.length;
    return true;
  }

  close(start, end) {
    this.at = end;
    const text = this.text.slice(start, end);
    try {
      const { value, duplicates } = readJsonWithDuplicates(text);
      if (isArray(value)) this.array = true;
      else this.answer = { object: value, text, duplicates };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (this.leave(start, end)) return;
      // Only the last one is told, and counting its lines takes as long as the text is.
      this.malformed = () => `the JSON is malformed: ${error.message}`;
      this.candidates.push(start);
    }
  }

  /** The malformed objects, each up to where the next malformed value begins; arrays are not mended. */
  mendable() {
    const sorted = this.candidates.sort((a, b) => a - b);
    return sorted
      .map((start, index) => ({ start, end: sorted[index + 1] ?? this.end }))
      .filter(({ start }) => this.text[start] === '{');
  }

  problem() {
    if (this.malformed) return this.malformed();
    if (this.array) return 'the reply holds a JSON array, not an object';
    if (this.thought) return 'the reply holds a thought and no JSON object after it';
    return 'the reply holds no JSON object';
  }
}

/**
 * `{answer, problem, candidates}` of a reply: the answer object with its text and the keys that stand twice, or null and
 * why; and the malformed objects a repair may try, each as its place in the reply.
 */
export function scanReply(text) {
  const trimmed = text.slice(0, blankEnd(text)).replace(/^[ \t\n\r\ufeff]+/, '');
  if (trimmed === '') {
    return { answer: null, problem: text === '' ? 'the reply is empty' : 'the reply is only whitespace', candidates: [] };
  }
  try {
    const { value, duplicates } = readJsonWithDuplicates(trimmed);
    if (isObject(value)) return { answer: { object: value, text: trimmed, duplicates }, problem: '', candidates: [] };
    return { answer: null, problem: `the reply is ${kindWords(value)}, not an object`, candidates: [] };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  const scan = new Scan(text).run();
  return { answer: scan.answer, problem: scan.answer ? '' : scan.problem(), candidates: scan.mendable() };
}

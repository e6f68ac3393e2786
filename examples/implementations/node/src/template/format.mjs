/** `%` and `format` of strings: widths are written out in the template, never computed. */

import { isArray, isNumber, isObject } from '../json/values.mjs';
import { characters } from './budget.mjs';
import { TemplateError } from './lex.mjs';
import { attribute, item, print, used } from './values.mjs';

const MAX_PRECISION = 300;

function number(value, type) {
  const given = typeof value === 'boolean' ? BigInt(value) : value;
  if (!isNumber(given)) throw new TemplateError(`a number is needed for ${type}`);
  return given;
}

function digits(value, type, precision) {
  const given = number(value, type);
  if ('dixXob'.includes(type)) {
    const whole = typeof given === 'bigint' ? given : BigInt(Math.trunc(given));
    const text = whole.toString({ x: 16, X: 16, o: 8, b: 2 }[type] ?? 10);
    return type === 'X' ? text.toUpperCase() : text;
  }
  const places = precision ?? 6;
  if (places > MAX_PRECISION) throw new TemplateError(`more than ${MAX_PRECISION} places`);
  const float = Number(given);
  const exponent = (text) => text.replace(/e([+-])(\d)$/, 'e$10$2');
  if (/e/i.test(type)) return exponent(float.toExponential(Math.min(places, 100)));
  if (/g/i.test(type)) return exponent(String(Number(float.toPrecision(Math.min(Math.max(places, 1), 100)))));
  return type === '%' ? `${(float * 100).toFixed(Math.min(places, 100))}%` : float.toFixed(Math.min(places, 100));
}

function padded(text, width, align, fill) {
  characters(Math.max(width, text.length));
  const space = Math.max(0, width - [...text].length);
  if (align === '<') return text + fill.repeat(space);
  if (align === '^') return fill.repeat(Math.floor(space / 2)) + text + fill.repeat(Math.ceil(space / 2));
  if (align === '=' && /^[-+ ]/.test(text)) return text[0] + fill.repeat(space) + text.slice(1);
  return fill.repeat(space) + text;
}

const signed = (text, sign) => (sign && !text.startsWith('-') ? sign + text : text);

const PERCENT = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d+))?[hlL]?([a-zA-Z%])/g;

/** `template % values`. */
export function percent(template, values) {
  const list = isArray(values) ? values : [values];
  let next = 0;
  const out = template.replace(PERCENT, (whole, name, flags, width, precision, type) => {
    if (type === '%') return '%';
    if (width === '*' || precision === '*') throw new TemplateError('a width that is an argument');
    let value;
    if (name !== undefined) value = isObject(values) ? item(values, name) : used(undefined);
    else {
      if (next >= list.length) throw new TemplateError('not enough arguments for the format');
      value = list[next];
      next += 1;
    }
    used(value);
    const isText = 'sra'.includes(type);
    if (!isText && !'dixXofFeEgGc'.includes(type)) throw new TemplateError(`the format %${type} is not known`);
    let text = isText ? print(value) : type === 'c' ? String(value) : digits(value, type, precision === undefined ? undefined : Number(precision));
    if (isText && precision !== undefined) text = text.slice(0, Number(precision));
    else if (!isText) text = signed(text, flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '');
    const zeros = flags.includes('0') && !isText && !flags.includes('-');
    return padded(text, Number(width ?? 0), flags.includes('-') ? '<' : zeros ? '=' : '>', zeros ? '0' : ' ');
  });
  if (!isObject(values) && next < list.length) throw new TemplateError('not all arguments are used by the format');
  return out;
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?#?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

function formatted(value, spec) {
  if (spec === '') return print(value);
  const found = SPEC.exec(spec);
  if (!found) throw new TemplateError(`the format ${spec} is not known`);
  const [, fill, align, sign, zero, width, group, precision, type] = found;
  const isText = typeof used(value) === 'string' || type === 's';
  let text;
  if (isText || !isNumber(value)) text = print(value).slice(0, precision === undefined ? undefined : Number(precision));
  else {
    text = type || precision !== undefined ? digits(value, type ?? 'g', precision === undefined ? undefined : Number(precision)) : print(value);
    if (group) text = text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, group));
    text = signed(text, sign === '-' ? '' : sign);
  }
  return padded(text, Number(width ?? 0), align ?? (zero ? '=' : isText ? '<' : '>'), fill ?? zero ?? ' ');
}

/** `template.format(args…)`; attributes are those that templates have anyway. */
export function format(template, args, named) {
  let next = 0n;
  return template.replace(/\{\{|\}\}|\{([^{}:!]*)(?:!([sra]))?(?::([^{}]*))?\}|[{}]/g, (whole, field, conversion, spec = '') => {
    if (whole === '{{' || whole === '}}') return whole[0];
    if (field === undefined) throw new TemplateError('a width that is an argument, or a single brace in a format');
    const [, first, path] = /^([^.[]*)(.*)$/s.exec(field);
    let value;
    if (first === '' || /^\d+$/.test(first)) {
      value = item(args, first === '' ? next : BigInt(first));
      if (first === '') next += 1n;
    } else value = used(item(new Map(Object.entries(named)), first));
    for (const [, name, index] of path.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)) {
      value = name === undefined ? item(value, /^\d+$/.test(index) ? BigInt(index) : index) : attribute(value, name);
    }
    return formatted(conversion ? print(value) : used(value), spec);
  });
}

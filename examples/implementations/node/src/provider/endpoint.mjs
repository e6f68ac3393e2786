/** An OpenAI-compatible endpoint: where it is, what goes with every request, and what must never be shown. */

import { CallError, TransportError, valueError } from '../errors.mjs';
import { jsonForm } from '../json/form.mjs';
import { isArray, isObject, object } from '../json/values.mjs';
import { toCompact } from '../json/write.mjs';

const ADDRESS = /^(https?):\/\/(?:([^/?#]*)@)?(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+)(?::([0-9]*))?((?:\/[^\s?#]*)?)$/i;
const MAX_REASON = 300;
const HIDDEN = '***';

const percentDecoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const isSound = (value) => {
  if (typeof value === 'string') return value.isWellFormed();
  if (isArray(value)) return value.every(isSound);
  return !isObject(value) || [...value].every(([name, member]) => name.isWellFormed() && isSound(member));
};

export class Endpoint {
  #authorization = null;

  #secrets = [];

  constructor({ base_url: base, model, api_key: key = null, params = new Map(), system_first: systemFirst = false, timeout = 60, retries = 2n } = {}) {
    const found = typeof base === 'string' ? ADDRESS.exec(base) : null;
    // The address is not shown: it may hold a password.
    if (!found || (found[4] && Number(found[4]) > 65535)) throw valueError('base_url is no http(s) address without query and fragment');
    if (Number(retries) < 0) throw valueError('retries is negative');
    const [, scheme, user, host, port, path] = found;
    this.url = `${scheme.toLowerCase()}://${host}${port ? `:${port}` : ''}${path.replace(/\/+$/, '')}/chat/completions`;
    Object.assign(this, { model, params, systemFirst, timeout: Number(timeout), retries: Number(retries) });
    if (user) this.#basic(user);
    if (key !== null && key.trim() !== '') this.#bearer(key.trim());
  }

  #basic(user) {
    const colon = user.indexOf(':');
    const written = colon < 0 ? [user, ''] : [user.slice(0, colon), user.slice(colon + 1)];
    const [name, password] = written.map(percentDecoded);
    const pair = `${name}:${password}`;
    const header = Buffer.from(pair, 'utf8').toString('base64');
    this.#authorization = `Basic ${header}`;
    this.#hide(header, user, ...(password ? [pair, password, written[1]] : [name, written[0]]));
  }

  #bearer(key) {
    if (!/^[\x20-\x7e]+$/.test(key)) throw valueError('api_key holds a character that no header can carry');
    this.#authorization = `Bearer ${key}`;
    this.#hide(key);
  }

  #hide(...texts) {
    const forms = texts.flatMap((text) => [text, percentDecoded(text), JSON.stringify(text).slice(1, -1)]);
    this.#secrets = [...new Set([...this.#secrets, ...forms])].filter(Boolean).sort((a, b) => b.length - a.length);
  }

  /** A text or a JSON value in which no secret is left. */
  hidden(value) {
    if (typeof value === 'string') return this.#secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value);
    if (isArray(value)) return value.map((item) => this.hidden(item));
    if (isObject(value)) return new Map([...value].map(([name, member]) => [name, this.hidden(member)]));
    return value;
  }

  /** A call error that says model, endpoint and reason. */
  failure(reason, data = {}) {
    const whole = [...this.hidden(reason)];
    const shown = whole.length > MAX_REASON ? `${whole.slice(0, MAX_REASON).join('')}…` : whole.join('');
    const known = { endpoint: this.url, model: this.model, ...data };
    return new TransportError(`model ${this.model} at ${this.url}: ${shown}`, this.hidden(object(known)));
  }

  /** The request of these messages: `{method, url, headers, text}`. */
  request(messages, streaming, params) {
    const given = [...messages];
    const isSystem = (message) => (isObject(message) ? message.get('role') : message?.role) === 'system';
    const ordered = this.systemFirst ? [...given.filter(isSystem), ...given.filter((message) => !isSystem(message))] : given;
    const members = [['model', this.model], ['messages', ordered], ['stream', streaming]];
    if (streaming) members.push(['stream_options', object({ include_usage: true })]);
    const body = new Map([...members, ...this.params, ...params]);
    return { method: 'POST', url: this.url, headers: this.#headers(), text: this.#written(body) };
  }

  #headers() {
    return { 'content-type': 'application/json', ...(this.#authorization ? { authorization: this.#authorization } : {}) };
  }

  #written(body) {
    const refuse = (what) => { throw new CallError(`model ${this.model} at ${this.url}: the request cannot be written as JSON: ${what}`, object({ endpoint: this.url, model: this.model })); };
    const check = (value, depth = 0) => {
      if (depth > 254) refuse('nested too deep');
      const isPlain = value !== null && typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value));
      if (['function', 'symbol', 'undefined'].includes(typeof value)) refuse(`a ${typeof value}`);
      if (typeof value === 'number' && !Number.isFinite(value)) refuse(String(value));
      if (value === null || typeof value !== 'object') return;
      if (!isArray(value) && !isObject(value) && !isPlain) refuse('a value of the language');
      for (const member of isPlain ? Object.values(value) : value.values()) check(member, depth + 1);
    };
    check(body);
    const json = jsonForm(body);
    if (!isSound(json)) refuse('half of a surrogate pair');
    return toCompact(json);
  }

  /** How an endpoint is shown and logged: without user, password and key. */
  toString() {
    return `Endpoint(url='${this.url}', model='${this.model}')`;
  }
}

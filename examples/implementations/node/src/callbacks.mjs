/**
 * What tool callbacks are given: records of typed fields and a free `extra`, and the handlers of a run.
 *
 * Records are frozen, so several handlers can be given the same one.
 */

import { Cancelled, errorText, keyError, typeError, valueError } from './errors.mjs';
import { isArray, isObject } from './json/values.mjs';
import { logError } from './log.mjs';
import { argumentsObject } from './reply/arguments.mjs';

const MEDIA = ['image', 'audio', 'video', 'file'];
const MEDIA_FIELDS = ['url', 'base64_data', 'mime_type'];
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const kindOf = (value) => {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  return typeof value;
};

function text(fields, name, fallback) {
  const value = fields[name] === undefined ? fallback : fields[name];
  if (value === undefined) throw valueError(`${name} is missing`);
  if (typeof value !== 'string') throw valueError(`${name} is of type ${kindOf(value)}, not string`);
  return value;
}

function extraOf(fields) {
  const extra = fields.extra === undefined ? new Map() : fields.extra;
  if (!isObject(extra)) throw valueError(`extra is of type ${kindOf(extra)}, not an object`);
  for (const name of extra.keys()) if (typeof name !== 'string') throw valueError('extra has a key that is no string');
  return new Map(extra); // one level deep: the values are the caller's own objects
}

/** By name only: a field that is added later cannot shift another. */
function named(args) {
  const [fields = {}] = args;
  if (args.length > 1 || fields === null || typeof fields !== 'object' || isArray(fields)) {
    throw typeError('fields are given by name');
  }
  return isObject(fields) ? Object.fromEntries(fields) : fields;
}

class Record {
  toJson() {
    return new Map(Object.entries(this).map(([name, value]) => [name, value instanceof Record ? value.toJson() : value]));
  }

  /** `extra[key]`, the same object, if it is of that type: a class, or one of the names of JSON's types. */
  extraAs(key, type) {
    if (!this.extra.has(key)) {
      throw keyError(`extra has no '${key}'; it has [${[...this.extra.keys()].sort().map((k) => `'${k}'`).join(', ')}]`);
    }
    const value = this.extra.get(key);
    const found = isObject(value) ? 'object' : value !== null && typeof value === 'object' ? value.constructor.name : kindOf(value);
    const fits = typeof type === 'function' ? value instanceof type : kindOf(value) === type && (type !== 'object' || isObject(value));
    if (!fits) throw typeError(`extra['${key}'] is of type ${found}, not ${typeof type === 'function' ? type.name : type}`);
    return value;
  }
}

export class ToolArgument extends Record {
  constructor(...args) {
    super();
    this.text = text(named(args), 'text');
    Object.freeze(this);
  }
}

export class CallbackInput extends Record {
  constructor(...args) {
    super();
    const fields = named(args);
    this.arguments_in_json = text(fields, 'arguments_in_json');
    this.extra = extraOf(fields);
    Object.freeze(this);
  }

  /** The JSON object that the arguments are; an object of its own at each call. */
  arguments() {
    const { object, problem } = argumentsObject(this.arguments_in_json);
    if (object === null) throw valueError(`arguments_in_json: ${problem}`);
    return object;
  }
}

/** One part of a tool result: a text, or a medium with one source. */
export class Part extends Record {
  constructor(...args) {
    super();
    const fields = named(args);
    this.type = fields.type;
    if (fields.type === 'text') this.text = text(fields, 'text');
    else if (MEDIA.includes(fields.type)) this.readMedium(fields);
    else throw valueError(`a part of the type ${typeof fields.type === 'string' ? fields.type : kindOf(fields.type ?? null)} is not known`);
    Object.freeze(this);
  }

  readMedium(fields) {
    for (const name of MEDIA_FIELDS) this[name] = fields[name] === undefined || fields[name] === null ? null : text(fields, name);
    if (Boolean(this.url) === Boolean(this.base64_data)) throw valueError(`a ${this.type} has either url or base64_data`);
    if (!this.base64_data) return;
    if (!this.mime_type) throw valueError('base64_data needs mime_type');
    if (!BASE64.test(this.base64_data)) throw valueError('base64_data is no standard base64');
  }
}

export class ToolResult extends Record {
  constructor(...args) {
    super();
    const { parts = [] } = named(args);
    if (!isArray(parts)) throw valueError(`parts is of type ${kindOf(parts)}, not an array`);
    this.parts = Object.freeze(parts.map((part) => {
      if (part instanceof Part) return part;
      if (!isObject(part)) throw valueError(`a part is of type ${kindOf(part)}, not an object`);
      return new Part(part);
    }));
    Object.freeze(this);
  }

  toJson() {
    return new Map([['parts', this.parts.map((part) => part.toJson())]]);
  }
}

export class CallbackOutput extends Record {
  constructor(...args) {
    super();
    const fields = named(args);
    this.response = text(fields, 'response', '');
    const output = fields.tool_output ?? null;
    if (output !== null && !(output instanceof ToolResult) && !isObject(output)) {
      throw valueError(`tool_output is of type ${kindOf(output)}, not a tool result`);
    }
    this.tool_output = output === null || output instanceof ToolResult ? output : new ToolResult(output);
    this.extra = extraOf(fields);
    Object.freeze(this);
  }
}

export function callbackInputFrom(value) {
  if (value instanceof CallbackInput) return value;
  if (value instanceof ToolArgument) return new CallbackInput({ arguments_in_json: value.text });
  return typeof value === 'string' ? new CallbackInput({ arguments_in_json: value }) : null;
}

export function callbackOutputFrom(value) {
  if (value instanceof CallbackOutput) return value;
  if (value instanceof ToolResult) return new CallbackOutput({ tool_output: value });
  return typeof value === 'string' ? new CallbackOutput({ response: value }) : null;
}

/** The hooks of a run; handlers watch, so what they return or raise changes nothing. */
export class CallbackHandlers {
  #hooks = { start: [], end: [], end_with_stream: [], error: [] };

  onStart(hook) { return this.#add('start', hook); }

  onEnd(hook) { return this.#add('end', hook); }

  onEndWithStream(hook) { return this.#add('end_with_stream', hook); }

  onError(hook) { return this.#add('error', hook); }

  start(input) { return this.#fire('start', () => input); }

  end(output) { return this.#fire('end', () => output); }

  error(error) { return this.#fire('error', () => error); }

  /** Each hook has a stream of its own over the pieces there were when the event was fired. */
  endWithStream(pieces) {
    const fixed = [...pieces];
    return this.#fire('end_with_stream', () => (async function* stream() { yield* fixed; })());
  }

  #add(event, hook) {
    this.#hooks[event].push(hook);
    return hook;
  }

  async #fire(event, make) {
    for (const hook of [...this.#hooks[event]]) {
      try {
        await hook(make());
      } catch (error) {
        if (error instanceof Cancelled) throw error;
        logError(`the ${event} hook ${hook.name || 'without a name'} failed: ${errorText(error)}`);
      }
    }
  }
}

/** `SlotProcessor`: what the parameter filler asks about one schema. */

import { invalidData, invalidSchema } from '../errors.mjs';
import { JsonError, readJson } from '../json/read.mjs';
import { copy, isObject } from '../json/values.mjs';
import { addNull } from './addnull.mjs';
import { askSchema, askedPlaces } from './ask.mjs';
import { places, remainingSchema } from './check.mjs';
import { compile } from './compile.mjs';
import { convert } from './convert.mjs';
import { claimsName, rootNames } from './declared.mjs';
import { Evaluator } from './evaluate.mjs';
import { checkValues, DATA_LIMITS, SCHEMA_LIMITS } from './limits.mjs';
import { merge } from './merge.mjs';
import { dropNulls } from './nulls.mjs';

const BLANK = /^[ \t\n\r\ufeff]*$/;

/** Throws `invalid_data` for what is no JSON or beyond the limits. */
export const checkData = (data) => checkValues(data, DATA_LIMITS, invalidData);

export function checkObject(value, what) {
  if (!isObject(value)) throw invalidData('', `${what} has to be an object`);
  checkData(value);
}

export class SlotProcessor {
  constructor(schema) {
    if (isObject(schema)) checkValues(schema, SCHEMA_LIMITS, invalidSchema); // before it is copied, which has no end of its own
    this.document = compile(copy(schema));
    this.root = this.document.root;
  }

  places(data) {
    checkData(data);
    return places(this.root, data);
  }

  /** The remaining schema: `{}` exactly when the data are valid. */
  check(data) {
    return remainingSchema(this.places(data));
  }

  convert(data, base = null) {
    checkObject(data, 'the data');
    if (base !== null) checkObject(base, 'the base');
    return convert(this.root, new Evaluator(), data, base);
  }

  /** An object, or its text, without the nulls that mean "not given". */
  process(reply) {
    let value = reply;
    if (typeof reply === 'string') value = BLANK.test(reply) ? new Map() : parse(reply);
    if (value === null) value = new Map();
    checkObject(value, 'the reply');
    return dropNulls(new Evaluator(), [this.root], copy(value));
  }

  /** The known arguments as a caller gives them: pointers converted, nulls that mean nothing left out. */
  known(data) {
    checkObject(data, 'the known data');
    const evaluator = new Evaluator();
    const plain = convert(this.root, evaluator, data, null, claimsName(rootNames(evaluator, this.root, new Map())));
    return copy(dropNulls(new Evaluator(), [this.root], plain));
  }

  /** A reply, not converted yet, laid over what is known. */
  merge(known, reply) {
    checkObject(known, 'the known data');
    checkObject(reply, 'the reply');
    return merge(this.root, known, reply);
  }

  /** `{missing, schema}`: the pointers asked for, and the nested schema a model is shown for them. */
  ask(known, { optional = false } = {}) {
    checkObject(known, 'the known data');
    const asked = askedPlaces(this.root, known, { optional });
    return { missing: asked.map(({ pointer }) => pointer), schema: askSchema(this.root, known, asked) };
  }

  addNull() {
    return addNull(this.document);
  }
}

function parse(text) {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw invalidData('', error.message);
    throw error;
  }
}

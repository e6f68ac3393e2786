/** What Draft 7's metaschema says of each keyword's value, and where subschemas stand. */

import { isArray, isInteger, isNumber, isObject, isString, key } from '../json/values.mjs';

export const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

export const ONE = ['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'];
export const LISTS = ['allOf', 'anyOf', 'oneOf', 'items'];
export const MAPS = ['$defs', 'definitions', 'dependencies', 'patternProperties', 'properties'];

const isUnique = (list) => new Set(list.map(key)).size === list.length;
const isBoolean = (value) => typeof value === 'boolean';
const isCount = (value) => isInteger(value) && value >= 0;
const isStrings = (value) => isArray(value) && value.every(isString) && isUnique(value);
const isSchema = (value) => isObject(value) || isBoolean(value);
const isSchemas = (value) => isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap = (value) => isObject(value) && [...value.values()].every(isSchema);

const isType = (value) =>
  isString(value) ? TYPES.includes(value)
    : isArray(value) && value.length > 0 && value.every((type) => TYPES.includes(type)) && isUnique(value);

const every = (names, check) => Object.fromEntries(names.map((name) => [name, check]));

/** `[check, what the value has to be]` by keyword. */
export const CHECKS = Object.fromEntries(Object.entries({
  ...every(['$id', '$schema', '$ref', '$comment', 'title', 'description', 'pattern', 'format', 'contentMediaType', 'contentEncoding'], [isString, 'a string']),
  ...every(['readOnly', 'writeOnly', 'uniqueItems'], [isBoolean, 'a boolean']),
  ...every(['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'], [isNumber, 'a number']),
  ...every(['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'], [isCount, 'an integer from 0']),
  ...every(['additionalItems', 'contains', 'additionalProperties', 'propertyNames', 'if', 'then', 'else', 'not'], [isSchema, 'a schema']),
  ...every(['allOf', 'anyOf', 'oneOf'], [isSchemas, 'a list of schemas']),
  ...every(['definitions', '$defs', 'properties', 'patternProperties'], [isSchemaMap, 'an object of schemas']),
  ...every(['examples', 'enum'], [isArray, 'an array']),
  multipleOf: [(value) => isNumber(value) && value > 0, 'a number above 0'],
  items: [(value) => isSchema(value) || isSchemas(value), 'a schema or a list of schemas'],
  required: [isStrings, 'a list of different strings'],
  dependencies: [(value) => isObject(value) && [...value.values()].every((d) => isSchema(d) || isStrings(d)), 'an object of schemas or lists of strings'],
  type: [isType, `one of ${TYPES.join(', ')}, or a list of them`],
}));

/** JSON Pointers (RFC 6901): text to tokens and back. */

import { valueError } from './errors.mjs';

export const escapeToken = (token) => token.replaceAll('~', '~0').replaceAll('/', '~1');

export const join = (tokens) => tokens.map((token) => `/${escapeToken(token)}`).join('');

export function split(pointer) {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw valueError(`${JSON.stringify(pointer)} does not begin with "/"`);
  if (/~(?![01])/.test(pointer)) throw valueError(`${JSON.stringify(pointer)} holds a "~" without 0 or 1`);
  return pointer.slice(1).split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The index that a token is for an array, or -1. More than 18 digits are none, whatever the array. */
export const indexOf = (token) => (/^(?:0|[1-9][0-9]{0,17})$/.test(token) ? Number(token) : -1);

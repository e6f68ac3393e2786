/**
 * The errors of the contract.
 *
 * A port names errors by *kind*; the kinds are the contract's words and travel on the wire.
 * `CallError` is the one kind that is part of normal operation: an executor turns it into a chunk.
 */

/** Any error that the contract names; `kind` is its word for it. */
export class ContractError extends Error {
  constructor(kind, message, extra = {}) {
    super(message);
    this.name = this.constructor.name;
    this.kind = kind;
    Object.assign(this, extra);
  }
}

/** A Call failed: a model, an endpoint, a prompt. `data` is a JSON object (a Map). */
export class CallError extends ContractError {
  constructor(message, data = new Map(), extra = {}) {
    super('call_error', message, extra);
    this.data = data;
  }
}

/** An endpoint failed; `call_error` like any other, told apart by who catches it. */
export class TransportError extends CallError {}

/** A function model gave no valid object in its last trial. */
export class GenerationError extends CallError {}

/** Cancellation: passes through everything, is never turned into another error. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}

export const valueError = (message) => new ContractError('value_error', message);
export const typeError = (message) => new ContractError('type_error', message);
export const keyError = (message) => new ContractError('key_error', message);
export const notImplemented = (message) => new ContractError('not_implemented', message);
export const invalidSchema = (pointer, reason) =>
  new ContractError('invalid_schema', `${pointer}: ${reason}`, { pointer });
export const invalidData = (pointer, reason) =>
  new ContractError('invalid_data', `${pointer}: ${reason}`, { pointer });

/** The text of an error, never empty: an error without one gives the name of its kind. */
export const errorText = (error) => (error instanceof Error ? error.message || error.name : String(error));

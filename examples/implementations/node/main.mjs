#!/usr/bin/env node
/**
 * The peer of the conformance protocol: one JSON object a line in, one out.
 *
 * Answers are given in the order of the requests, so a request is only read on when the one before is answered.
 */

import { ContractError } from './src/errors.mjs';
import { LENIENT, readJson } from './src/json/read.mjs';
import { object } from './src/json/values.mjs';
import { decodeMembers, encode } from './src/json/wire.mjs';
import { toCompact } from './src/json/write.mjs';
import { operations } from './src/operations/index.mjs';

const VERSION = 1n;

function hello(message) {
  const speaks = (message.get('versions') ?? []).some((version) => BigInt(version) === VERSION);
  return object({
    cmd: 'hello',
    version: speaks ? VERSION : 0n,
    name: 'corecall-node',
    language: 'javascript',
    release: '0.1.0',
    operations: Object.keys(operations).sort(),
  });
}

async function run(message) {
  const seq = message.get('seq');
  const operation = Object.hasOwn(operations, message.get('op')) ? operations[message.get('op')] : null;
  if (operation === null) return object({ cmd: 'unsupported', seq });
  try {
    const input = decodeMembers(message.get('input') ?? new Map());
    const value = await operation(input, { llmBaseUrl: message.get('llm_base_url') });
    return object({ cmd: 'result', seq, value: encode(value ?? null) });
  } catch (error) {
    const kind = error instanceof ContractError ? error.kind : 'internal';
    if (kind === 'unsupported') return object({ cmd: 'unsupported', seq });
    if (kind === 'internal') process.stderr.write(`${error?.stack ?? error}\n`);
    return object({ cmd: 'error', seq, kind, message: String(error?.message ?? error).toWellFormed() });
  }
}

/** Only LF ends a line; Node's `readline` would also split at U+2028, which may stand inside a string. */
async function* lines(stream) {
  let pieces = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
      pieces = [];
      start = end + 1;
    }
    pieces.push(chunk.subarray(start));
  }
  yield Buffer.concat(pieces).toString('utf8');
}

async function main() {
  for await (const line of lines(process.stdin)) {
    if (line.trim() === '') continue;
    const message = readJson(line, LENIENT);
    const command = message.get('cmd');
    if (command === 'bye') break;
    const answer = command === 'hello' ? hello(message) : await run(message);
    process.stdout.write(`${toCompact(answer)}\n`);
    if (command === 'hello' && answer.get('version') === 0n) break;
  }
  // `exitCode` and not `exit()`: what is still in the pipe must reach the harness.
  process.exitCode = 0;
  process.stdin.destroy();
}

await main();

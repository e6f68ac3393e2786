#!/usr/bin/env node
/**
 * The peer of the conformance protocol: one JSON object a line in, one out.
 *
 * Answers are given in the order of the requests, so a request is only read on when the one before is answered.
 * The work is done in a thread, for one reason: a thread can be given the stack that schemas and data at their
 * limits of depth need, and the main program cannot.
 */

import { isMainThread, parentPort, Worker } from 'node:worker_threads';

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

/** The answer as text: a value that cannot be written is an error of this case and no end of the peer. */
async function run(message) {
  const seq = message.get('seq');
  const operation = Object.hasOwn(operations, message.get('op')) ? operations[message.get('op')] : null;
  if (operation === null) return toCompact(object({ cmd: 'unsupported', seq }));
  try {
    const input = decodeMembers(message.get('input') ?? new Map());
    const value = await operation(input, { llmBaseUrl: message.get('llm_base_url') });
    return toCompact(object({ cmd: 'result', seq, value: encode(value ?? null) }));
  } catch (error) {
    const kind = error instanceof ContractError ? error.kind : 'internal';
    if (kind === 'unsupported') return toCompact(object({ cmd: 'unsupported', seq }));
    if (kind === 'internal') process.stderr.write(`${error?.stack ?? error}\n`);
    return toCompact(object({ cmd: 'error', seq, kind, message: String(error?.message ?? error).toWellFormed() }));
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

/** The answer to a line, or null for none. */
async function answer(line) {
  const message = readJson(line, LENIENT);
  switch (message.get('cmd')) {
    case 'hello': return toCompact(hello(message));
    case 'run': return run(message);
    default: return null;
  }
}

const STACK_MB = 64;

/** The thread that works, as a function from a line to its answer. */
function startWorker() {
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { stackSizeMb: STACK_MB } });
  let settle = null;
  worker.on('message', (text) => settle.resolve(text));
  worker.on('error', (error) => settle.reject(error));
  const ask = (line) => new Promise((resolve, reject) => {
    settle = { resolve, reject };
    worker.postMessage(line);
  });
  return { ask, stop: () => worker.terminate() };
}

async function main() {
  const { ask, stop } = startWorker();
  for await (const line of lines(process.stdin)) {
    if (line.trim() === '') continue;
    const text = await ask(line);
    if (text === null || text.startsWith('{"cmd":"hello","version":0,')) {
      if (text) process.stdout.write(`${text}\n`);
      break;
    }
    process.stdout.write(`${text}\n`);
  }
  await stop();
  // `exitCode` and not `exit()`: what is still in the pipe must reach the harness.
  process.exitCode = 0;
  process.stdin.destroy();
}

if (isMainThread) await main();
else parentPort.on('message', async (line) => parentPort.postMessage(await answer(line)));

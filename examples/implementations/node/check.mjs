#!/usr/bin/env node
/**
 * Runs every example line of the contract through the operations of this port.
 *
 *   node check.mjs path/to/CONTRACT.md [--only history] [--log]
 *
 * Prints each line that fails with what came out, and counts by operation.
 */

import { readFileSync } from 'node:fs';

import { ContractError } from './src/errors.mjs';
import { LENIENT, readJson } from './src/json/read.mjs';
import { copy, equal, isArray, isObject } from './src/json/values.mjs';
import { toText } from './src/json/write.mjs';
import { silence } from './src/log.mjs';
import { operations } from './src/operations/index.mjs';

/** `[rule, text]` of every line in a `jsonl` fence. */
function* examples(contract) {
  let rule = '';
  let inside = false;
  for (const line of contract.split('\n')) {
    if (line.startsWith('```')) inside = line.startsWith('```jsonl');
    else if (inside && line.trim()) yield [rule, line];
    else if (!inside) rule = /^#### `([^`]+)`/.exec(line)?.[1] ?? rule;
  }
}

/** As the contract compares: as JSON, a member `required` of strings as a set. */
function sameResult(a, b) {
  return equal(normal(a), normal(b));
}

function normal(value) {
  if (isArray(value)) return value.map(normal);
  if (!isObject(value)) return value;
  return new Map([...value].map(([name, member]) => {
    const isSet = name === 'required' && isArray(member) && member.every((item) => typeof item === 'string');
    return [name, isSet ? [...member].sort() : normal(member)];
  }));
}

const show = (value) => {
  try {
    return toText(value);
  } catch {
    return String(value);
  }
};

async function outcome(line) {
  const input = new Map(line);
  ['op', 'gives', 'error'].forEach((name) => input.delete(name));
  const before = copy(input);
  try {
    const value = (await operations[line.get('op')](input, {})) ?? null;
    if (!equal(before, input)) return ['changed', 'the operation changed its input'];
    return ['gives', value];
  } catch (error) {
    if (error instanceof ContractError) return ['error', error.kind, error.message];
    return ['internal', error?.stack ?? String(error)];
  }
}

const [path, ...flags] = process.argv.slice(2);
const only = flags.includes('--only') ? flags[flags.indexOf('--only') + 1] : '';
const counts = new Map();
const count = (op, what) => {
  if (!counts.has(op)) counts.set(op, { passed: 0, failed: 0, unsupported: 0 });
  counts.get(op)[what] += 1;
};

if (!flags.includes('--log')) silence();
for (const [rule, text] of examples(readFileSync(path, 'utf8'))) {
  const line = readJson(text, LENIENT);
  const op = line.get('op');
  if (!op.startsWith(only) && !rule.startsWith(only)) continue;
  if (!Object.hasOwn(operations, op)) {
    count(op, 'unsupported');
    continue;
  }
  const [kind, value, detail] = await outcome(line);
  const passed = line.has('error')
    ? kind === 'error' && value === line.get('error')
    : kind === 'gives' && sameResult(value, line.get('gives'));
  count(op, passed ? 'passed' : 'failed');
  if (!passed) {
    console.log(`FAILED ${rule}\n  ${text.slice(0, 1500)}\n  → ${kind}: ${kind === 'gives' ? show(value) : value} ${detail ?? ''}`);
  }
}
const total = { passed: 0, failed: 0, unsupported: 0 };
for (const [op, row] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${op.padEnd(24)} passed ${row.passed}  failed ${row.failed}  unsupported ${row.unsupported}`);
  for (const name of Object.keys(total)) total[name] += row[name];
}
console.log(`total: passed ${total.passed}  failed ${total.failed}  unsupported ${total.unsupported}`);
process.exitCode = total.failed ? 1 : 0;

/**
 * Laying a reply over the known arguments.
 *
 * The known data are facts, a reply is a guess: a valid known value is never overwritten, a wrong new one never taken,
 * and everything that was left out is told.
 */

import { copy } from '../json/values.mjs';
import { join } from '../pointer.mjs';
import { convert } from './convert.mjs';
import { claimsName, rootNames } from './declared.mjs';
import { Evaluator } from './evaluate.mjs';
import { Survey, reasonOf } from './faults.mjs';
import { NOTHING } from './nothing.mjs';
import { Overlay } from './overlay.mjs';

/** Beyond these many values that break an object only together, trying each would take too long. */
const MAX_TRIED = 16;

/** The fault of the object at `path` of `value`, missing members aside; conditions see the whole of `value`. */
function faultAt(root, value, path) {
  const evaluator = new Evaluator();
  let schemas = [root];
  let at = value;
  for (const token of path) {
    schemas = evaluator.below(evaluator.judging(schemas, at), at, token);
    at = at instanceof Map ? at.get(token) : at[Number(token)];
    if (at === undefined) return null;
  }
  return evaluator.fault(schemas, at);
}

/** The new values to take out of the outermost object that they break together, each with its reason. */
function culprits(root, overlay, survey) {
  const outermost = [...survey.containers].sort((a, b) => a.length - b.length);
  for (const path of outermost) {
    const fault = faultAt(root, overlay.data, path);
    if (!fault || overlay.knownAt(path) === NOTHING || faultAt(root, overlay.known, path)) continue;
    const pointer = join(path);
    const reason = `with it, ${pointer === '' ? 'the object' : pointer} ${reasonOf(fault, overlay.at(path))}`;
    const tell = (at) => ({ path: at, kind: 'rejected', reason });
    const lastFirst = survey.newsBeneath(path).reverse();
    if (lastFirst.length > MAX_TRIED) return lastFirst.map(tell);
    return [tell(lastFirst.find((at) => overlay.without(at, () => faultAt(root, overlay.data, path) === null)) ?? lastFirst[0])];
  }
  return [];
}

/** `{data, filled, rejected, undeclared}`; what was left out as `{pointer, value, reason}`. */
export function merge(root, known, reply) {
  const evaluator = new Evaluator();
  const isName = claimsName(rootNames(evaluator, root, known));
  const overlay = new Overlay(evaluator, root, known, convert(root, evaluator, reply, known, isName));
  const left = { rejected: [], undeclared: [] };
  for (;;) {
    const survey = new Survey(new Evaluator(), root, overlay);
    const { nulls } = survey;
    nulls.forEach(({ path }) => overlay.takeOut(path));
    if (nulls.length > 0) continue;
    const out = survey.faults.length > 0 ? survey.faults : culprits(root, overlay, survey);
    if (out.length === 0) break;
    for (const { path, kind, reason } of out) {
      left[kind].push({ pointer: join(path), value: copy(overlay.at(path)), reason });
      overlay.takeOut(path);
    }
  }
  return { data: overlay.data, filled: overlay.leaves(), ...left };
}

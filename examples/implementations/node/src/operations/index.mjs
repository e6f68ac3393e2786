/** Every operation this port implements, by name. What is not here it answers `unsupported`. */

import { basics } from './basics.mjs';
import { calls } from './calls.mjs';
import { providers } from './providers.mjs';
import { execs } from './exec.mjs';
import { replies } from './replies.mjs';
import { schemas } from './schemas.mjs';

/** @type {Record<string, (input: Map, context: {llmBaseUrl?: string}) => unknown>} */
export const operations = { ...basics, ...calls, ...providers, ...execs, ...replies, ...schemas };

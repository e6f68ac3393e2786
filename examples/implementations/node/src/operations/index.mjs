/** Every operation this port implements, by name. What is not here it answers `unsupported`. */

import { basics } from './basics.mjs';
import { calls } from './calls.mjs';
import { execs } from './exec.mjs';
import { providers } from './providers.mjs';
import { replies } from './replies.mjs';
import { schemas } from './schemas.mjs';
import { watching } from './watching.mjs';

/** @type {Record<string, (input: Map, context: {llmBaseUrl?: string}) => unknown>} */
export const operations = { ...basics, ...calls, ...execs, ...providers, ...replies, ...schemas, ...watching };

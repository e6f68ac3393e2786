/** Operations on providers: what is sent, how scripted servers are read. */

import { CallError } from '../errors.mjs';
import { LENIENT, readJson } from '../json/read.mjs';
import { isObject, object } from '../json/values.mjs';
import { toCompact } from '../json/write.mjs';
import { Client } from '../provider/client.mjs';
import { Endpoint } from '../provider/endpoint.mjs';
import { FunctionModel, ReasoningModel } from '../provider/models.mjs';
import { modeParams } from '../provider/modes.mjs';
import { strictSchema } from '../provider/strict.mjs';
import { ConnectionError } from '../provider/transport.mjs';
import { bytesOf } from './replies.mjs';

const endpointOf = (input) => new Endpoint({ base_url: 'http://model.test/v1', model: 'm', ...Object.fromEntries(input.get('endpoint') ?? []) });
const messagesOf = (input) => input.get('messages') ?? [object({ role: 'user', content: '?' })];
const shown = (input, all) => object(Object.fromEntries(input.get('show').map((name) => [name, all[name]])));

const headersOf = (headers) => new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
const bodyOf = (body) => (typeof body === 'string' || body instanceof Uint8Array ? body : body === undefined ? '' : toCompact(body));

async function* pieces(chunks, reset) {
  for (const chunk of chunks) yield bytesOf(chunk);
  if (reset !== undefined) throw new ConnectionError('ReadError', reset);
}

function respond(script) {
  if (script.has('refused')) throw new ConnectionError('ConnectError', script.get('refused'));
  if (script.has('chunks')) {
    const type = script.get('type') ?? 'text/event-stream';
    return { status: 200, headers: new Map([['content-type', type]]), chunks: pieces(script.get('chunks'), script.get('reset')) };
  }
  const headers = headersOf([['content-type', 'application/json'], ...(script.get('headers') ?? [])]);
  return { status: Number(script.get('status') ?? 200), headers, chunks: pieces([bodyOf(script.get('body'))]) };
}

/** A client whose server answers as `responses` say, the last one for ever; `asked` and `waits` are kept. */
function scriptedClient(endpoint, responses) {
  const asked = [];
  const waits = [];
  const client = new Client(endpoint, {
    send: async (request) => {
      asked.push(request);
      return respond(responses[Math.min(asked.length, responses.length) - 1]);
    },
    wait: async (seconds) => { waits.push(seconds); },
  });
  return { client, asked, waits };
}

const COMPLETION = object({ body: object({ choices: [object({ message: object({ content: '' }) })] }) });

async function request(input) {
  const { client, asked } = scriptedClient(endpointOf(input), [COMPLETION]);
  const model = new ReasoningModel(client, { replyMode: input.get('reply_mode') ?? 'text' });
  const options = { streaming: input.get('streaming') ?? false, temperature: input.get('temperature'), responseSchema: input.get('response_schema') };
  for await (const piece of model.call(messagesOf(input), options)) void piece; // eslint-disable-line no-void
  const [{ method, url, headers, text }] = asked;
  return shown(input, { method, url, headers: object(headers), body: readJson(text, LENIENT), text });
}

async function read(input) {
  const { client, asked, waits } = scriptedClient(endpointOf(input), input.get('responses'));
  const seen = { content: '', reasoning: '', deltas: 0n, message: null, data: null };
  try {
    for await (const { content, reasoning } of new ReasoningModel(client).call(messagesOf(input), { streaming: input.get('streaming') ?? true })) {
      seen.content += content;
      seen.reasoning += reasoning;
      seen.deltas += 1n;
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    seen.message = error.message;
    seen.data = error.data;
  }
  return shown(input, { ...seen, requests: BigInt(asked.length), waits });
}

async function generate(input) {
  const replies = input.get('replies').map((reply) => object({
    body: object({ choices: [object({ message: isObject(reply) ? reply : object({ content: reply }) })] }),
  }));
  const { client, asked } = scriptedClient(endpointOf(input), replies);
  const model = new FunctionModel(client, { mode: input.get('mode') ?? 'json_schema', trials: input.get('trials') ?? 3n });
  const seen = { object: null, message: null, data: null };
  try {
    seen.object = await model.call(messagesOf(input), input.get('schema'));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    seen.message = error.message;
    seen.data = error.data;
  }
  const turns = asked.length > 0 ? readJson(asked.at(-1).text, LENIENT).get('messages') : [];
  return shown(input, { ...seen, requests: BigInt(asked.length), turns });
}

export const providers = {
  'provider.endpoint': (input) => String(endpointOf(input)),
  'provider.params': (input) => modeParams(input.get('mode'), input.get('schema')),
  'provider.strict': (input) => strictSchema(input.get('schema')),
  'provider.request': request,
  'provider.read': read,
  'provider.generate': generate,
};

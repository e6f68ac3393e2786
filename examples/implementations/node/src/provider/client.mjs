/** Asking an endpoint: requests repeated when that may help, responses read as streams or as wholes. */

import { setTimeout as sleep } from 'node:timers/promises';

import { JsonError, readJson } from '../json/read.mjs';
import { object } from '../json/values.mjs';
import { Completion } from '../stream/completion.mjs';
import { EventDecoder } from '../stream/sse.mjs';
import { ThoughtSplitter } from '../stream/thoughts.mjs';
import { isRepeated, LONGEST, waitFor } from './retry.mjs';
import { ConnectionError, send as networkSend } from './transport.mjs';

const DONE = '[DONE]';
const isGood = (status) => status >= 200 && status < 300;

export class Client {
  constructor(endpoint, { send = networkSend, wait = (seconds) => sleep(seconds * 1000) } = {}) {
    Object.assign(this, { endpoint, send, wait });
  }

  /** A good response, after as many repetitions as the endpoint allows. */
  async #respond(request) {
    const { endpoint } = this;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= endpoint.retries;
      let seconds = waitFor(attempt);
      try {
        const response = await this.send(request, endpoint.timeout);
        if (isGood(response.status)) return response;
        const body = await this.#text(response);
        seconds = waitFor(attempt, response.headers.get('retry-after'));
        if (isLast || !isRepeated(response.status) || seconds > LONGEST) {
          throw endpoint.failure(`HTTP ${response.status}: ${body}`, { status: BigInt(response.status) });
        }
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        if (isLast) throw endpoint.failure(error.reason);
      }
      await this.wait(seconds);
    }
  }

  /** The body of a response; what is no UTF-8 shows as U+FFFD. */
  async #text(response) {
    const pieces = [];
    for await (const piece of response.chunks) pieces.push(piece);
    return new TextDecoder().decode(Buffer.concat(pieces));
  }

  /** The completion of a response that is not streamed. */
  async #whole(response) {
    const { endpoint } = this;
    const data = { status: BigInt(response.status) };
    let text;
    let body;
    try {
      text = await this.#text(response);
      body = readJson(text);
    } catch (error) {
      if (error instanceof ConnectionError) throw endpoint.failure(error.reason, data);
      if (error instanceof JsonError) throw endpoint.failure(`HTTP ${response.status}, not JSON (${error.message}): ${text}`, data);
      throw error;
    }
    const completion = Completion.whole(body);
    if (completion.error) throw endpoint.failure(`HTTP ${response.status}: ${completion.error.get('message')}`, data);
    return completion;
  }

  /** The whole completion of messages. */
  async complete(messages, params) {
    return this.#whole(await this.#respond(this.endpoint.request(messages, false, params)));
  }

  /** What the reply adds, piece by piece: `{content, reasoning}`, thoughts among the reasoning. */
  async* stream(messages, streaming, params) {
    const response = await this.#respond(this.endpoint.request(messages, streaming, params));
    const type = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
    if (streaming && type === 'text/event-stream') yield* this.#events(response);
    else {
      const completion = await this.#whole(response);
      const splitter = new ThoughtSplitter();
      const [first, last] = [splitter.push(completion.content), splitter.end()];
      yield { content: first.content + last.content, reasoning: completion.reasoning + first.thought + last.thought };
    }
  }

  async* #events(response) {
    const completion = new Completion();
    const decoder = new EventDecoder();
    const splitter = new ThoughtSplitter();
    const fail = (reason) => this.endpoint.failure(reason, {
      partial: object({ content: completion.content, arguments: completion.toolCalls.map((call) => call.arguments) }),
    });
    try {
      for await (const bytes of response.chunks) {
        for (const event of decoder.decode(bytes)) {
          if (event.data === DONE) {
            yield* heldBack(splitter);
            return;
          }
          const { content, reasoning } = this.#chunk(completion, event, fail);
          const piece = splitter.push(content);
          if (piece.content || reasoning || piece.thought) yield { content: piece.content, reasoning: reasoning + piece.thought };
        }
      }
    } catch (error) {
      if (error instanceof ConnectionError) throw fail(error.reason);
      throw error;
    }
    yield* heldBack(splitter);
    const rest = decoder.rest();
    if (rest?.data === DONE) return;
    if (rest) throw fail('the stream ended in the middle of an event');
    if (completion.finishReason === null) throw fail('the stream ended before the reply was finished');
  }

  #chunk(completion, { event, data }, fail) { // eslint-disable-line class-methods-use-this
    if (event === 'error') throw fail(`the server reported an error: ${data}`);
    let chunk;
    try {
      chunk = readJson(data);
    } catch (error) {
      if (error instanceof JsonError) throw fail(`an event that is not JSON (${error.message}): ${data}`);
      throw error;
    }
    const added = completion.add(chunk);
    if (completion.error) throw fail(`the server reported an error: ${data}`);
    return added;
  }
}

function* heldBack(splitter) {
  const { thought, content } = splitter.end();
  if (thought || content) yield { content, reasoning: thought };
}

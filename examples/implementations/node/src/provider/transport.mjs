/**
 * The one seam to the network: `send(request, timeout)` gives `{status, headers, chunks}` or throws a `ConnectionError`.
 *
 * `headers` is a Map of lower-case names, `chunks` an asynchronous iterable of bytes. Tests and examples put their own here.
 */

/** A connection that failed; `kind` says how. */
export class ConnectionError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = kind;
  }

  get reason() {
    return this.message ? `${this.name}: ${this.message}` : this.name;
  }
}

const causeText = (error) => error.cause?.message || error.cause?.code || error.message || error.name;

/** Asks the network; connecting and each read may take `timeout` seconds. */
export async function send({ method, url, headers, text }, timeout) {
  const controller = new AbortController();
  let timer = null;
  const bounded = async (promise, kind) => {
    timer = setTimeout(() => controller.abort(), timeout * 1000);
    try {
      return await promise;
    } catch (error) {
      throw controller.signal.aborted ? new ConnectionError('Timeout', `nothing came for ${timeout} seconds`) : new ConnectionError(kind, causeText(error));
    } finally {
      clearTimeout(timer);
    }
  };
  const response = await bounded(fetch(url, { method, headers, body: text, redirect: 'manual', signal: controller.signal }), 'ConnectError');
  async function* chunks() {
    const reader = response.body?.getReader();
    try {
      while (reader) {
        const { value, done } = await bounded(reader.read(), 'ReadError');
        if (done) return;
        yield value;
      }
    } finally {
      controller.abort(); // who stops reading closes the response
    }
  }
  return { status: response.status, headers: new Map(response.headers), chunks: chunks() };
}

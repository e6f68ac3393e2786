/**
 * Server-sent events from bytes (WHATWG HTML, "Server-sent events").
 *
 * Lines are cut on bytes and decoded when they are whole: a character may be split between two network chunks.
 */

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf];

export class EventDecoder {
  #line = [];

  #afterCr = false;

  #started = false;

  #type = '';

  #data = null;

  #typed = false;

  #id = '';

  /** The events that these bytes complete, each `{event, data, id}`. */
  decode(bytes) {
    const events = [];
    for (const byte of bytes) {
      const isPaired = byte === LF && this.#afterCr;
      this.#afterCr = byte === CR;
      if (isPaired) continue;
      if (byte === LF || byte === CR) {
        const event = this.#field(this.#take());
        if (event) events.push(event);
      } else this.#line.push(byte);
    }
    return events;
  }

  /** What the end of the stream leaves of an event that was begun, or null. */
  rest() {
    const half = this.#take();
    let begun = this.#data !== null || this.#typed;
    if (half !== '' && !half.startsWith(':')) {
      const name = half.split(':', 1)[0];
      if (name !== 'id' && name !== 'retry') begun = true;
      this.#field(half);
    }
    return begun ? { event: this.#type || 'message', data: this.#data ?? '', id: this.#id } : null;
  }

  #take() {
    let bytes = this.#line;
    this.#line = [];
    if (!this.#started) {
      this.#started = true;
      if (BOM.every((byte, index) => bytes[index] === byte)) bytes = bytes.slice(3);
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }

  #field(line) {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (name === 'event') {
      this.#type = value;
      this.#typed = true;
    } else if (name === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }

  #dispatch() {
    const event = this.#data === null ? null : { event: this.#type || 'message', data: this.#data, id: this.#id };
    this.#type = '';
    this.#typed = false;
    this.#data = null;
    return event;
  }
}

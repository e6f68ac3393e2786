/** Thoughts told apart from content while a reply arrives, wherever its tags are split. */

const OPEN = '<think>';
const CLOSE = '</think>';

/** How many characters at the end of `text` begin `tag`. */
function heldBack(text, tag) {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

export class ThoughtSplitter {
  #held = '';

  #thinking = false;

  #answering = false;

  /** `{thought, content}` of the next piece of text. */
  push(piece) {
    let text = this.#held + piece;
    const out = { thought: '', content: '' };
    this.#held = '';
    while (text !== '') {
      if (this.#answering) {
        out.content += text;
        break;
      }
      const tag = this.#thinking ? CLOSE : OPEN;
      const kind = this.#thinking ? 'thought' : 'content';
      const at = text.indexOf(tag);
      const brace = this.#thinking ? -1 : text.indexOf('{');
      if (brace >= 0 && (at < 0 || brace < at)) {
        this.#answering = true;
      } else if (at >= 0) {
        out[kind] += text.slice(0, at);
        text = text.slice(at + tag.length);
        this.#thinking = !this.#thinking;
      } else {
        const kept = text.length - heldBack(text, tag);
        out[kind] += text.slice(0, kept);
        this.#held = text.slice(kept);
        break;
      }
    }
    return out;
  }

  /** What was held back and was no tag after all. */
  end() {
    const held = this.#held;
    this.#held = '';
    return this.#thinking ? { thought: held, content: '' } : { thought: '', content: held };
  }
}

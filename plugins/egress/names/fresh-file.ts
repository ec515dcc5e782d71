import { readFile } from 'node:fs/promises';

/**
 * What a small file of the system says, at most a moment ago. One that cannot be read says what it said last, at
 * first nothing.
 */
export class FreshFile<Content> {
  readonly #path: string;
  readonly #parse: (text: string) => Content;
  readonly #freshMs: number;
  #readAt = Number.NEGATIVE_INFINITY;
  #text = '';
  #content: Content;
  #reading: Promise<Content>;

  /** Reads nothing yet. */
  constructor(path: string, parse: (text: string) => Content, freshMs: number) {
    this.#path = path;
    this.#parse = parse;
    this.#freshMs = freshMs;
    this.#content = parse('');
    this.#reading = Promise.resolve(this.#content);
  }

  /** Never rejects. */
  read(): Promise<Content> {
    if (performance.now() - this.#readAt >= this.#freshMs) {
      this.#readAt = performance.now();
      this.#reading = this.#readAgain();
    }
    return this.#reading;
  }

  async #readAgain(): Promise<Content> {
    const text = await readFile(this.#path, 'utf8').catch(() => this.#text);
    if (text !== this.#text) {
      this.#text = text;
      this.#content = this.#parse(text);
    }
    return this.#content;
  }
}

import type { LineSocket } from '../lines.ts';

/** What has to be on disk before an answer leaves; it says when there is something to commit. */
export interface Committing {
  onBegin: () => void;
  commit(): void;
}

/**
 * Gathers what one turn of the event loop changes and answers: everything that arrived together is
 * committed together, and only then do the answers leave. There is no timer: an idle network
 * answers at once, a busy one in larger batches.
 */
export class Tick {
  readonly #store: Committing;
  #frames = new Map<LineSocket, object[]>();
  #afterwards: (() => void)[] = [];
  #scheduled = false;

  constructor(store: Committing) {
    this.#store = store;
    store.onBegin = () => this.#schedule();
  }

  /** Writes a frame once everything before it is durable. */
  write(socket: LineSocket, frame: object): void {
    const frames = this.#frames.get(socket);
    if (frames === undefined) this.#frames.set(socket, [frame]);
    else frames.push(frame);
    this.#schedule();
  }

  /** Ends a connection after the frames that were written to it. */
  end(socket: LineSocket): void {
    this.#afterwards.push(() => socket.end());
    this.#schedule();
  }

  /** Commits and answers now. */
  run(): void {
    this.#scheduled = false;
    this.#store.commit();
    const frames = this.#frames;
    const afterwards = this.#afterwards;
    this.#frames = new Map();
    this.#afterwards = [];
    for (const [socket, written] of frames) socket.write(...written);
    for (const action of afterwards) action();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.run());
  }
}

/** A file that waits until fewer of its session are being fetched. */
interface Waiting {
  readonly server: string;
  readonly settled: Promise<void>;
  /** Ends the wait: settles the file as this does, at once without it. */
  end(settled?: Promise<void>): void;
  /** Begins the fetch; resolves once the file has settled. */
  begin(): Promise<void>;
}

/** Servers that may have as many fetches under way as one may. */
const servers = 8;

/**
 * Bounds the fetches of one session's due files: those of one server, so that a server that hangs delays no other, and
 * all together. Servers take turns, and a file that waits costs little.
 */
export class DueFiles {
  readonly #ofServer: number;
  /** Fetches under way, by server. */
  readonly #underWay = new Map<string, number>();
  /** By reference. */
  readonly #waiting = new Map<string, Waiting>();
  /** References of what waits, in order, by server. */
  readonly #queues = new Map<string, Set<string>>();
  /** Servers with a queue that may begin a fetch, in the order of their turns. */
  readonly #turns = new Set<string>();
  #total = 0;

  /** @param ofServer how many files of one server are fetched at once, at most */
  constructor(ofServer: number) {
    this.#ofServer = ofServer;
  }

  /** Whether another file of the server may be begun. */
  hasRoom(server: string): boolean {
    return this.#total < servers * this.#ofServer && this.#hasShare(server);
  }

  /** Counts a due file whose fetch has begun, until it has settled. */
  async follow(server: string, settled: Promise<void>): Promise<void> {
    this.#count(server, 1);
    await settled;
    this.#count(server, -1);
    if (this.#queues.has(server)) this.#turns.add(server);
    for (const next of this.#turns) {
      if (this.#total >= servers * this.#ofServer) break;
      if (this.#hasShare(next)) this.#beginOne(next);
      else this.#turns.delete(next);
    }
  }

  /**
   * Makes a due file wait for its turn; one that waits already keeps it.
   * @param begin begins its fetch, and follows it
   * @returns resolves once the file has settled or was forgotten
   */
  await(server: string, reference: string, begin: () => Promise<void>): Promise<void> {
    const before = this.#waiting.get(reference);
    if (before !== undefined) return before.settled;
    let end: Waiting['end'] = () => undefined;
    const settled = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#waiting.set(reference, { server, settled, end, begin });
    this.#queues.set(server, (this.#queues.get(server) ?? new Set()).add(reference));
    if (this.#hasShare(server)) this.#turns.add(server);
    return settled;
  }

  /** A file waits no longer. */
  forget(reference: string): void {
    this.#take(reference)?.end();
  }

  /** Nothing waits any longer. */
  end(): void {
    for (const reference of this.#waiting.keys()) this.forget(reference);
  }

  #beginOne(server: string): void {
    this.#turns.delete(server);
    const [reference = ''] = this.#queues.get(server) ?? [];
    const waiting = this.#take(reference);
    waiting?.end(waiting.begin());
    if (this.#queues.has(server) && this.#hasShare(server)) this.#turns.add(server);
  }

  #take(reference: string): Waiting | undefined {
    const waiting = this.#waiting.get(reference);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(reference);
    const queue = this.#queues.get(waiting.server);
    queue?.delete(reference);
    if (queue?.size === 0) {
      this.#queues.delete(waiting.server);
      this.#turns.delete(waiting.server);
    }
    return waiting;
  }

  #hasShare(server: string): boolean {
    return (this.#underWay.get(server) ?? 0) < this.#ofServer;
  }

  #count(server: string, by: 1 | -1): void {
    this.#total += by;
    const underWay = (this.#underWay.get(server) ?? 0) + by;
    if (underWay === 0) this.#underWay.delete(server);
    else this.#underWay.set(server, underWay);
  }
}

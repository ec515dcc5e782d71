/** Whose work it is. */
export interface SlotUser {
  readonly tenantId: string;
  /** Server that the work depends on; null when there is none that could hang. */
  readonly server: string | null;
  /** Whether the work may begin, where more than a free slot decides; `Slots.admit` asks again. */
  mayBegin?(): boolean;
}

/** The server of an address. */
export function serverOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

interface Waiting {
  readonly user: SlotUser;
  /** How many came before. */
  readonly order: number;
  enter(): void;
}

/**
 * Semaphore with fair shares: a free slot goes to the tenant with the fewest, then to that tenant's server with the
 * fewest, then in order of arrival. One tenant has at most half of the slots, and one server at most half of those: a
 * server that hangs delays neither other tenants nor files of other servers.
 */
export class Slots {
  readonly #size: number;
  readonly #ofTenant: number;
  readonly #ofServer: number;
  /** Slots in use by tenant, and by tenant and server. */
  readonly #taken = new Map<string, number>();
  /** In order of arrival, by the last key of the user: whose share is taken is passed over as a whole. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #used = 0;
  #arrivals = 0;

  constructor(size: number) {
    this.#size = size;
    this.#ofTenant = Math.ceil(size / 2);
    this.#ofServer = Math.ceil(size / 4);
  }

  /** Runs the work once a slot is free. @throws what the work throws, or the signal's reason while waiting */
  async run<Result>(
    user: SlotUser,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await this.#enter(user, signal);
    try {
      return await work();
    } finally {
      this.#leave(user);
    }
  }

  async #enter(user: SlotUser, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasShare(user) && mayBegin(user)) return this.#take(user, 1);
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#remove(waiting);
        reject(signal.reason);
      };
      this.#arrivals += 1;
      const waiting = {
        user,
        order: this.#arrivals,
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          this.#take(user, 1);
          resolve();
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const key = lastKeyOf(user);
      this.#waiting.set(key, (this.#waiting.get(key) ?? new Set()).add(waiting));
    });
  }

  #leave(user: SlotUser): void {
    this.#take(user, -1);
    this.admit();
  }

  /** Lets in whoever may begin. */
  admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#remove(next);
      next.enter();
    }
  }

  #next(): Waiting | undefined {
    let best: { readonly waiting: Waiting; readonly rank: number } | undefined;
    if (this.#used >= this.#size) return undefined;
    for (const group of this.#waiting.values()) {
      const waiting = this.#firstOf(group);
      if (waiting === undefined) continue;
      const [tenant = 0, server = 0] = keysOf(waiting.user).map((key) => this.#count(key));
      const rank = tenant * this.#size + server;
      const isBefore = rank === best?.rank && waiting.order < best.waiting.order;
      if (best === undefined || rank < best.rank || isBefore) best = { waiting, rank };
    }
    return best?.waiting;
  }

  /** The first of those with the same share that may begin. */
  #firstOf(group: ReadonlySet<Waiting>): Waiting | undefined {
    for (const waiting of group) {
      if (!this.#hasShare(waiting.user)) return undefined;
      if (mayBegin(waiting.user)) return waiting;
    }
    return undefined;
  }

  #hasShare(user: SlotUser): boolean {
    const [tenant, server] = keysOf(user);
    if (this.#used >= this.#size || this.#count(tenant) >= this.#ofTenant) return false;
    return server === undefined || this.#count(server) < this.#ofServer;
  }

  #remove(waiting: Waiting): void {
    const key = lastKeyOf(waiting.user);
    const group = this.#waiting.get(key);
    group?.delete(waiting);
    if (group?.size === 0) this.#waiting.delete(key);
  }

  #take(user: SlotUser, count: 1 | -1): void {
    this.#used += count;
    for (const key of keysOf(user)) {
      const taken = this.#count(key) + count;
      if (taken === 0) this.#taken.delete(key);
      else this.#taken.set(key, taken);
    }
  }

  #count(key: string): number {
    return this.#taken.get(key) ?? 0;
  }
}

/** Keys of the counters of a user: its tenant, then its tenant and server. */
function keysOf({ tenantId, server }: SlotUser): readonly [string, ...(readonly string[])] {
  return server === null ? [tenantId] : [tenantId, `${tenantId} ${server}`];
}

function lastKeyOf(user: SlotUser): string {
  return keysOf(user).at(-1) ?? '';
}

function mayBegin(user: SlotUser): boolean {
  return user.mayBegin?.() !== false;
}

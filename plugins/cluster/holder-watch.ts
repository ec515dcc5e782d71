import type { Clock } from '../../core/contracts/clock.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import type { LeaseHolder } from './contract.ts';
import { freeSilentLane } from './lanes.ts';

/** Between two reads, milliseconds; shorter with a short lease. */
const readMs = 1_000;

/** Dependencies of the watch. */
export interface HolderWatchParts {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: GatewayLog;
  readonly owner: string;
  readonly leaseMs: number;
  /** Called when leases were freed. */
  readonly freed: () => void;
}

/** The value that a holder's row has, and since when it was read so, on this process's monotonic clock. */
interface Seen {
  readonly expiresAt: number;
  readonly since: number;
}

/**
 * Frees the leases of holders that renew them no more. A living one changes its row every third of a lease, so no step of
 * the database's clock makes a living holder count as dead, or a dead one as living.
 */
export class HolderWatch {
  readonly #parts: HolderWatchParts;
  readonly #loop: Loop;
  #seen: ReadonlyMap<string, Seen> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(parts: HolderWatchParts) {
    this.#parts = parts;
    this.#loop = new Loop(
      () => Math.min(readMs, parts.leaseMs / 6),
      () => this.watch(),
      (error) => parts.log.warn({ err: error }, 'the holders of leases could not be watched'),
    );
  }

  start(): void {
    this.#loop.kick();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /**
   * Reads the holders, and frees those whose row has not changed for a whole lease, or for half of one and has expired by
   * the database's clock. Of the holder's lease and this process's own the longer one counts: settings may differ.
   * After a gap all begin anew: while the database is away, nobody can renew.
   */
  async watch(): Promise<void> {
    const { storage, clock, owner, leaseMs, freed } = this.#parts;
    const asked = clock.monotonic();
    const holders = await storage.read.leaseHolders.notFreed();
    const read = clock.monotonic();
    const before = read - this.#readAt > leaseMs / 3 ? new Map<string, Seen>() : this.#seen;
    this.#readAt = read;
    this.#seen = new Map(
      holders.map(({ id, expiresAt }) => {
        const earlier = before.get(id);
        return [id, earlier?.expiresAt === expiresAt ? earlier : { expiresAt, since: read }];
      }),
    );
    const silentMs = (id: string): number => asked - (this.#seen.get(id)?.since ?? read);
    const longer = (holder: LeaseHolder): number => Math.max(leaseMs, holder.leaseMs);
    const silent = holders
      .filter((one) => one.id !== owner && silentMs(one.id) >= longer(one) / 2)
      .map((one) => ({ ...one, isDead: silentMs(one.id) >= longer(one) }));
    if (silent.length > 0 && (await storage.submit(freeSilentLane, silent))) freed();
  }
}

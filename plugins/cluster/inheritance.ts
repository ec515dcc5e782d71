import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { type Heartbeat, inheritLane } from './lanes.ts';

/** How long a process may be silent before another of its name takes it for dead, milliseconds. */
const silentMs = 1_500;

/** Between two tries while the database is away. */
const againMs = 250;

/** Dependencies of the inheritance. */
export interface InheritanceParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly log: GatewayLog;
  readonly owner: string;
  /** The name of this process, the same after every restart; null: every other owner of a lease is dead. */
  readonly name: string | null;
  /** Called when leases may have been freed. */
  readonly freed: () => void;
}

/**
 * Frees the leases of dead processes of the same name, once they have been silent for longer than a heartbeat. A living
 * one keeps its leases.
 */
export class Inheritance {
  readonly #parts: InheritanceParts;
  readonly #loop: Loop;
  /** The heartbeats of those processes at the last read. */
  #read: readonly Heartbeat[] | null = null;

  constructor(parts: InheritanceParts) {
    this.#parts = parts;
    this.#loop = new Loop(
      () => (this.#read === null ? againMs : silentMs),
      () => this.#inherit(),
      (error) => parts.log.warn({ err: error }, 'the leases of dead processes could not be freed'),
    );
  }

  start(): void {
    this.#loop.kick();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #inherit(): Promise<void> {
    const { storage, owner, name, freed } = this.#parts;
    const read = this.#read ?? [];
    const heartbeats = await storage.submit(inheritLane, { owner, name, read });
    if (this.#read === null && heartbeats.length > 0) {
      this.#read = heartbeats;
      return;
    }
    void this.#loop.stop();
    freed();
  }
}

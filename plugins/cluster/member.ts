import type { Clock } from '../../core/contracts/clock.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { atMost } from '../../core/waiting.ts';
import type { Cluster, LeaseKeeping, LeaseKind, ProcessLease } from './contract.ts';
import { HolderWatch } from './holder-watch.ts';
import { Inheritance } from './inheritance.ts';
import { beatLane, goneLane } from './lanes.ts';
import { LeaseRenewal, type RenewalParts } from './lease-renewal.ts';
import type { LeaseTerms } from './process-lease.ts';

/** Between two heartbeats, milliseconds. */
const beatMs = 1_000;

/** How long a clean stop waits for the database to store it, milliseconds. */
const goneMs = 3_000;

/** The roles that work under leases. */
const leasing = ['sessions', 'webhooks'];

/** Dependencies of a member. */
export interface MemberParts extends LeaseTerms, Pick<RenewalParts, 'stoodStill'> {
  readonly storage: Pick<Storage, 'read' | 'submit'>;
  readonly clock: Clock;
  readonly log: GatewayLog;
  /** The broker's `processId`. */
  readonly processId: string;
  /** The name of this process, the same after every restart: it takes over at once the leases of its last run. */
  readonly name: string;
  readonly roles: readonly string[];
}

/**
 * This process among the others: its heartbeat, and the renewal of its leases. Every process beats, whatever its roles:
 * wait slots and leases of dead processes go to others.
 */
export class ClusterMember implements Cluster {
  readonly lease: ProcessLease;
  readonly leaseMs: number;
  readonly #parts: MemberParts;
  readonly #renewal: LeaseRenewal;
  readonly #inheritance: Inheritance;
  readonly #watch: HolderWatch;
  readonly #beating: Loop;
  readonly #isHolder: boolean;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    const { processId: owner, isAlone, log } = parts;
    this.#isHolder = parts.roles.some((role) => leasing.includes(role));
    this.#renewal = new LeaseRenewal({ ...parts, owner });
    this.lease = this.#renewal.lease;
    this.leaseMs = parts.leaseMs;
    const freed = (): void => {
      for (const kind of this.#renewal.kinds) kind.freed();
    };
    this.#inheritance = new Inheritance({
      ...parts,
      owner,
      name: isAlone ? null : parts.name,
      freed,
    });
    this.#watch = new HolderWatch({ ...parts, owner, freed });
    this.#beating = new Loop(
      () => beatMs,
      () => this.#beat(),
      (error) => log.warn({ err: error }, 'the heartbeat failed'),
    );
  }

  keep(kind: LeaseKind): LeaseKeeping {
    return this.#renewal.keep(kind);
  }

  async renewLapsed(): Promise<void> {
    if (!this.lease.isHeld()) await this.#renewal.renew();
  }

  /** Begins to beat and to renew. All kinds of leases are registered by then. */
  async start(): Promise<void> {
    const { log, isAlone } = this.#parts;
    await this.#beat().catch((error) => log.warn({ err: error }, 'the first heartbeat failed'));
    this.#beating.rest();
    if (!this.#isHolder) return;
    await this.#renewal.start();
    if (isAlone) this.#inheritance.start();
    else this.#watch.start();
  }

  /**
   * Begins to replace a dead process of the same name. Called once this process has its port: without the port, a living
   * process may be there.
   */
  inherit(): void {
    if (this.#isHolder && !this.#parts.isAlone) this.#inheritance.start();
  }

  /** A clean stop, after all leases were released. Never rejects. */
  async stop(): Promise<void> {
    const { storage, processId } = this.#parts;
    await Promise.all([this.#inheritance.stop(), this.#watch.stop()]);
    await this.#renewal.stop();
    // Last: a silent process counts as dead, and its leases as free.
    await this.#beating.stop();
    await atMost(goneMs, storage.submit(goneLane, processId));
  }

  async #beat(): Promise<void> {
    const { storage, processId, name, roles } = this.#parts;
    const loads = this.#renewal.kinds.flatMap((kind) => kind.load?.() ?? []);
    const { sessions, capacity } = loads[0] ?? { sessions: 0, capacity: 1 };
    await storage.submit(beatLane, { id: processId, name, roles, sessions, capacity });
  }
}

import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { atMost } from '../../../core/waiting.ts';
import type { LeaseKeeping, LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import { isPairing } from '../account-state.ts';
import type { SessionListener } from '../contract.ts';
import { giveBackLane } from '../lanes/leases.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { contain } from './contain.ts';
import type { SessionEnvironment } from './environment.ts';
import { leaveParked } from './leave-parked.ts';
import { ParkedLeases } from './parked-leases.ts';
import { SessionRunner } from './runner.ts';

/** How long a clean stop waits for sends under way, and then for what the listeners still store. Milliseconds. */
const stopMs = 2_000;

/** The sessions that this process holds, by account. */
export class SessionHost {
  readonly #environment: SessionEnvironment;
  readonly #log: GatewayLog;
  /** The lease of the process, until this host has ended. */
  readonly lease: Pick<ProcessLease, 'isHeld'>;
  readonly #keeping: LeaseKeeping;
  readonly #runners = new Map<string, SessionRunner>();
  /** Sessions that are over and still store outcomes under their leases. */
  readonly #closing = new Set<SessionRunner>();
  /** Leases of accounts whose driver this process lacks. */
  readonly parked: ParkedLeases;
  #reserved = 0;
  /** The claim under way: how many sessions it may open, and when it ends. */
  #claim = { slots: 0, ended: Promise.resolve() };
  #stopping = false;
  #ended = false;

  constructor(environment: SessionEnvironment) {
    this.#environment = environment;
    this.#log = environment.log;
    this.parked = new ParkedLeases(environment.clock);
    const { broker, cluster, settings, storage } = environment;
    this.lease = { isHeld: () => !this.#ended && cluster.lease.isHeld() };
    this.#keeping = cluster.keep({
      rows: (tables) => tables.leases.rows,
      held: () => this.fences(),
      lost: (lease) => this.#lost(lease),
      revoked: (lease) => this.#revoked(lease),
      unheld: async (fences) => {
        await storage.submit(giveBackLane, { fences, how: 'release' });
        broker.toAll('leases', {});
      },
      resumed: () => this.#resumed(),
      expired: () => this.#closeExpired(),
      freed: () => broker.toAll('leases', {}),
      load: () => ({ sessions: this.size, capacity: this.#stopping ? 0 : settings.capacity }),
    });
  }

  /** Sessions hosted, those about to open included. */
  get size(): number {
    return this.#runners.size + this.parked.size + this.#reserved;
  }

  /** How many more sessions it may host. */
  get room(): number {
    return this.#stopping
      ? 0
      : Math.max(0, this.#environment.settings.capacity - this.size - this.#claim.slots);
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Resolves once the claim under way is over: each account that it got is opened or parked. */
  get claimed(): Promise<void> {
    return this.#claim.ended;
  }

  runner(accountId: string): SessionRunner | undefined {
    return this.#runners.get(accountId);
  }

  isParked(accountId: string): boolean {
    return this.parked.has(accountId);
  }

  fences(): readonly LeaseToken[] {
    const runners = [...this.#runners.values(), ...this.#closing];
    return [...runners.map((one) => one.live.fence), ...this.parked.leases];
  }

  /**
   * Keeps a slot free while a session is being opened. Waits for a claim under way that may fill the last ones.
   * @throws GatewayError when no slot is free
   */
  async reserving<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.room === 0) await this.claimed;
    if (this.room === 0) throw new GatewayError('connection_service_at_capacity');
    this.#reserved += 1;
    try {
      return await work();
    } finally {
      this.#reserved -= 1;
    }
  }

  /** Takes free leases, at most `slots`, and opens their sessions; one claim at a time. */
  async claiming(slots: number, work: () => Promise<void>): Promise<void> {
    const claim = this.taking(work);
    this.#claim = { slots, ended: claim.catch(() => undefined) };
    try {
      await claim;
    } finally {
      this.#claim.slots = 0;
    }
  }

  /** Takes leases and opens their sessions. A renewal in between releases no lease as one without a session. */
  taking<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#keeping.taking(work);
  }

  /** Opens the session of an account whose lease a claim has won. */
  async takeUp(row: AccountRow | undefined, fence: LeaseToken): Promise<void> {
    const { storage, lanes, channels } = this.#environment;
    if (this.#stopping) {
      await storage.submit(giveBackLane, { fences: [fence], how: 'release' });
      return;
    }
    if (row === undefined || row.removedAt !== null || row.status === 'disconnected') {
      await storage.submit(giveBackLane, { fences: [fence], how: 'end' });
      return;
    }
    if (isPairing(row)) {
      // The steps of this pairing were in the memory of a process that is gone.
      await storage.submit(lanes.transition, { fence, trigger: { type: 'pairing_abandoned' } });
      return;
    }
    const driver = channels.driverOf(row.channel, row.mode);
    if (driver === null) {
      const paced = this.#environment.lines.take(row.channel);
      const fields = { account: row.id, channel: row.channel, ...paced };
      if (paced !== null) this.#log.warn(fields, 'no driver for this account here');
      this.parked.keep(fence);
      return;
    }
    this.open({ row, fence, driver }).start(null);
  }

  /** Makes the runner of an account; an earlier one is closed. The caller starts it. */
  open(
    options: Omit<ConstructorParameters<typeof SessionRunner>[1], 'onOver' | 'lease'>,
  ): SessionRunner {
    const { id } = options.row;
    void this.#runners.get(id)?.close();
    this.parked.delete(id);
    const runner: SessionRunner = new SessionRunner(this.#environment, {
      ...options,
      lease: this.lease,
      onOver: (over, closed) => {
        if (this.#runners.get(id) === over) this.#runners.delete(id);
        this.#closing.add(over);
        void closed.finally(() => this.#closing.delete(over));
      },
    });
    this.#runners.set(id, runner);
    return runner;
  }

  /** Closes sessions that were opened while the process stopped: their leases are released. */
  end(): void {
    this.#ended = true;
    for (const runner of this.#runners.values()) void runner.close();
  }

  /** Finds what no signal announced: the listeners' work, leases for others, and records that changed. */
  async sweep(): Promise<void> {
    for (const listener of this.#environment.listeners) this.#sweepListener(listener);
    await leaveParked(this.parked, this.#environment, (work) => this.taking(work));
    const held = [...this.#runners.values()];
    const ids = held.map((runner) => runner.live.account.id);
    const found = await this.#environment.storage.read.accounts.followed(ids);
    const followed = new Map(found.map((account) => [account.id, account]));
    for (const id of ids) {
      const runner = this.#runners.get(id);
      const account = followed.get(id) ?? { id, restriction: null, proxy: null };
      if (runner?.differs(account)) void runner.refresh();
    }
  }

  /** A clean stop: closes all sessions and gives their leases away. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const runners = [...this.#runners.values()];
    const fences = this.fences();
    await atMost(stopMs, Promise.all(runners.map((runner) => runner.drain())));
    await atMost(stopMs, Promise.all(runners.map((runner) => runner.close())));
    this.parked.clear();
    if (fences.length === 0) return;
    const { storage, broker } = this.#environment;
    await storage.submit(giveBackLane, { fences, how: 'release' });
    broker.toAll('leases', {});
  }

  /** Resumes after the leases had run out and are renewed. */
  #resumed(): void {
    for (const runner of this.#runners.values()) runner.mayActAgain();
  }

  /** Closes a session whose lease another process has, unless it is ending already. */
  #lost(fence: LeaseToken): void {
    this.parked.forget(fence);
    const runner = this.#runnerOf(fence);
    if (runner === undefined || runner.isLeaving) return;
    this.#environment.metrics.leaseLost('taken');
    const paced = this.#environment.lines.take('taken');
    const level = paced === null ? 'debug' : 'warn';
    this.#log[level]({ account: fence.id, ...paced }, 'another process has taken this session');
    void runner.close();
  }

  /** Logs a session out whose account was removed. */
  #revoked(fence: LeaseToken): void {
    this.parked.forget(fence);
    void this.#runnerOf(fence)?.logOut();
  }

  /** Closes all sessions once the local deadline has passed; they are claimed again when the database is back. */
  #closeExpired(): void {
    const sessions = this.#runners.size;
    if (sessions === 0) return;
    this.#log.warn({ sessions }, 'the lease could not be renewed: closing all sessions');
    for (const runner of this.#runners.values()) {
      const { id: account } = runner.live.fence;
      this.#environment.metrics.leaseLost('expired');
      this.#log.debug({ account }, 'the lease could not be renewed: closing the session');
      void runner.close();
    }
  }

  #sweepListener(listener: SessionListener): void {
    void contain(
      () => listener.sweep(),
      (error) => this.#log.error({ err: error }, 'a listener of the sessions failed to sweep'),
    );
  }

  #runnerOf(fence: LeaseToken): SessionRunner | undefined {
    const runner = this.#runners.get(fence.id);
    return runner?.live.fence.number === fence.number ? runner : undefined;
  }
}

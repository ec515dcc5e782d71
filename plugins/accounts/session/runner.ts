import type { Release } from '../../../core/contracts/broker.ts';
import type {
  AnswerOutcome,
  Driver,
  LinkRequest,
  LinkStep,
} from '../../../core/contracts/driver.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { atMost } from '../../../core/waiting.ts';
import type { LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import { rowChanged } from '../lanes/restrict.ts';
import { details } from '../reasons.ts';
import { type Trigger, transition } from '../status.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { contain } from './contain.ts';
import { FencedCredentials, type Phase } from './credentials.ts';
import { isAnswerOutcome } from './driver-values.ts';
import type { SessionEnvironment } from './environment.ts';
import { EventPort } from './event-port.ts';
import { SessionListeners } from './listeners.ts';
import { NamedTimers } from './named-timers.ts';
import { OpenSession } from './open-session.ts';
import { Pairing, wrongValues } from './pairing.ts';
import { Tries } from './tries.ts';

/** How long a log-out may take before the connection is cut. */
const logOutMs = 3_000;

/** Said when a device may be left in the list of linked devices on the phone. */
export const stillLinked =
  "the device was not unlinked on the network: unlink it in the network's own app";

/** Pause before a status change is committed again after the database failed. */
const retryCommitMs = 500;

/** The network is out of reach, or was when it was last tried. */
type Loss = Extract<Trigger, { type: 'lost' }>;

/** What a runner is made for. */
export interface RunnerOptions {
  readonly row: AccountRow;
  readonly fence: LeaseToken;
  readonly driver: Driver;
  readonly lease: Pick<ProcessLease, 'isHeld'>;
  /**
   * Called once, when the session is over.
   * @param closed resolves when all it did is stored
   */
  onOver(runner: SessionRunner, closed: Promise<void>): void;
}

/** Runs one account's session from the lease that was won to its end: driver, status, reconnects. */
export class SessionRunner {
  readonly live: OpenSession;
  readonly #environment: SessionEnvironment;
  readonly #options: RunnerOptions;
  readonly #log: GatewayLog;
  readonly #port: EventPort;
  readonly #listeners: SessionListeners;
  readonly #timers: NamedTimers<'pairing' | 'restriction'>;
  readonly #tries: Tries;
  #pairing: Pairing | null = null;
  /** The latest loss; null once the network is there. */
  #loss: Loss | null = null;
  #leaving: Promise<void> | null = null;
  #over: Promise<void> | null = null;
  #hosting: Promise<Release> | null = null;

  constructor(environment: SessionEnvironment, options: RunnerOptions) {
    const { row, fence, driver, lease } = options;
    const { storage, sealer, listeners, media } = environment;
    this.#environment = environment;
    this.#options = options;
    this.#log = environment.log.child({ account: row.id, channel: row.channel });
    this.#timers = new NamedTimers(environment.timers);
    this.#tries = new Tries(environment, () => this.#attempt());
    this.live = new OpenSession(row, fence, driver.capabilities, lease, (call, error) =>
      this.#driverFailed(call, error),
    );
    this.#listeners = new SessionListeners(listeners, this.live, this.#log);
    const credentials = new FencedCredentials(storage, sealer, fence, () => this.#phase());
    const portParts = {
      credentials,
      listeners: this.#listeners,
      media,
      faults: environment.faults,
      metrics: environment.metrics,
      log: this.#log,
    };
    this.#port = new EventPort(this.live, portParts, {
      isOpen: () => this.#isOpen(),
      onTrigger: (trigger) => this.#apply(trigger),
      onStep: (step) => this.#takeStep(step),
    });
  }

  /** Null when nothing is being paired. */
  get pairing(): Pairing | null {
    return this.#pairing;
  }

  /** When the next try to connect is due, milliseconds since the Unix epoch; null when none is waited for. */
  get retryAt(): number | null {
    return this.#tries.dueAt;
  }

  /** Opens the session and connects it: from its credentials, or by linking when a request is given. */
  start(link: LinkRequest | null): void {
    const { broker, clock, settings } = this.#environment;
    void this.#listeners.notify('opened');
    this.#hosting = broker.host(this.live.account.id, (envelope) => this.#wake(envelope));
    this.#hosting.catch((error) => this.#log.error({ err: error }, 'the account gets no messages'));
    if (link !== null) {
      this.#pairing = new Pairing(link, clock.now() + settings.pairingTimeoutMs);
      this.#timers.later('pairing', settings.pairingTimeoutMs, () => {
        void this.#port.inTurn(() => this.#apply({ type: 'pairing_timeout' }));
      });
    }
    this.#armRestriction();
    // A process before this one may have been asked to wait.
    this.#tries.first(link !== null, link === null ? this.live.row.retryAt : null);
  }

  /** The lease was renewed after its local deadline had passed. */
  mayActAgain(): void {
    if (this.live.connected) void this.#listeners.notify('ready');
  }

  /** Asks the driver to hand a value to the network. @throws DriverError, or what a broken driver throws */
  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    const { session } = this.live;
    if (session === null || !this.#mayCall()) throw new Error('the session cannot act');
    const outcome = await session.answer(field, value);
    if (!isAnswerOutcome(outcome)) {
      throw new TypeError('the driver answered what is no outcome');
    }
    if (!outcome.accepted && this.#pairing?.wrongValue() === true) {
      const detail = details.wrong_values(field, wrongValues);
      const cause = { reason: 'login_refused', detail, retryAt: null } as const;
      await this.#port.inTurn(() => this.#apply({ type: 'refused', ...cause }));
    }
    // What the driver emitted before it answered is taken first.
    await this.#port.inTurn(async () => undefined);
    return outcome;
  }

  /** Reads the record again: somebody else has changed it. */
  refresh(): Promise<void> {
    return this.#port.inTurn(async () => {
      const [row] = await this.#environment.storage.read.accounts.find([this.live.account.id]);
      if (row === undefined || !this.#isOpen() || row.status === 'disconnected') return;
      const before = this.live.row;
      this.live.row = row;
      if (before.restriction === row.restriction && before.status === row.status) return;
      this.#armRestriction();
      if (this.live.connected) void this.#listeners.notify('ready');
    });
  }

  /** Lets nothing out any more and resolves when what is under way is answered. */
  drain(): Promise<void> {
    return this.live.drain();
  }

  /**
   * The account was removed or is linked anew: leaves the network politely, then closes. Idempotent.
   * @param linked whether a device may be linked on the network
   */
  logOut(linked = this.live.row.linked): Promise<void> {
    // Leaving before the driver is asked: what it then says is taken no more.
    this.#leaving ??= Promise.resolve().then(() => this.#leave(linked));
    return this.#leaving;
  }

  async #leave(linked: boolean): Promise<void> {
    const { session } = this.live;
    const outcomes: unknown[] = [];
    if (session !== null && this.#over === null && this.live.isHeld()) {
      const failed = (error: unknown): void => this.#driverFailed('logOut', error);
      const leaving = contain(async () => outcomes.push(await session.logOut()), failed);
      await atMost(logOutMs, leaving);
    }
    if (linked && !outcomes.includes('unlinked')) this.#log.info({}, stillLinked);
    await this.close();
  }

  /**
   * Cuts the connection at once, without logging out and without a status change. Idempotent.
   * @returns resolves once the listeners have stored what they had under way
   */
  close(): Promise<void> {
    this.#over ??= this.#close();
    return this.#over;
  }

  async #close(): Promise<void> {
    const { session } = this.live;
    try {
      session?.close();
    } catch (error) {
      this.#driverFailed('close', error);
    }
    this.live.end();
    this.#timers.cancelAll();
    this.#tries.end();
    this.#pairing?.take({ type: 'over' });
    this.#hosting?.then((release) => release()).catch(() => undefined);
    const closed = this.#listeners.notify('closed');
    this.#options.onOver(this, closed);
    await closed;
  }

  #phase(): Phase {
    if (this.#over !== null) return 'over';
    return this.#leaving === null ? 'open' : 'leaving';
  }

  #isOpen(): boolean {
    return this.#phase() === 'open';
  }

  /** Whether a driver call may go out. */
  #mayCall(): boolean {
    return this.#isOpen() && this.live.mayAct();
  }

  async #apply(trigger: Trigger): Promise<void> {
    if (trigger.type === 'lost') {
      // Said when it was emitted already; a `connected` from before may have been taken in between.
      this.live.connected = false;
      this.#loss = trigger;
      this.#tries.lost(trigger.reason, trigger.retryAt);
      // Every further try that fails alike: nothing to store.
      if (transition(this.live.row, trigger)?.state === this.live.row) {
        this.#pairing?.take({ type: 'lost' });
        return;
      }
    }
    const before = this.live.row.status;
    const outcome = await this.#commit(trigger);
    const { status } = outcome.row;
    if (outcome.kind === 'refused') {
      this.#log.warn({ trigger: trigger.type, status }, 'a status change was refused');
      return;
    }
    this.live.row = outcome.row;
    if (outcome.kind === 'claimed_elsewhere') {
      this.#log.warn({}, 'the number is linked to another tenant: this link is given up');
      return this.logOut(true);
    }
    if (status === 'disconnected') return this.close();
    if (trigger.type === 'lost') {
      this.#pairing?.take({ type: 'lost' });
      return;
    }
    if (trigger.type === 'connected') this.#nowConnected();
    this.#armRestriction();
    if (this.live.connected) {
      void this.#listeners.notify('ready');
    } else if (before === 'restricted' && status === 'connected') {
      // The restriction ended while the network was away: a try to reconnect is under way already.
      if (this.#loss !== null) this.live.row = (await this.#commit(this.#loss)).row;
    }
  }

  /** Takes a step of the linking: the network is there, whatever was said of it before. */
  async #takeStep(step: LinkStep): Promise<void> {
    if (this.#pairing !== null && this.live.row.reason !== null) {
      await this.#apply({ type: 'reached' });
    }
    this.#pairing?.take({ type: 'step', step });
  }

  #nowConnected(): void {
    this.live.connected = true;
    this.#loss = null;
    this.#tries.connected();
    this.#timers.cancel('pairing');
    this.#pairing?.take({ type: 'connected' });
    this.#pairing = null;
  }

  /** Commits a transition; repeats while the database is away, for as long as the session is open. */
  async #commit(trigger: Trigger) {
    const { storage, lanes, timers } = this.#environment;
    for (;;) {
      this.#port.refuseWhenOver();
      try {
        const outcome = await storage.submit(lanes.transition, {
          fence: this.live.fence,
          trigger,
          tries: this.#tries.failed,
        });
        this.#port.refuseWhenOver();
        if (outcome.kind !== 'fenced') return outcome;
        if (!outcome.removed) {
          this.#log.warn({}, 'this session does not hold its lease any more: it is closed');
        }
      } catch (error) {
        this.#port.refuseWhenOver();
        this.#log.warn({ err: error, trigger: trigger.type }, 'a status change waits');
        await new Promise<void>((resolve) => {
          timers.after(retryCommitMs, resolve);
        });
        continue;
      }
      void this.close();
    }
  }

  /** One try to link or to reconnect. */
  #attempt(): void {
    if (!this.#mayCall()) {
      // The lease may yet be renewed: see `LeaseRenewal`.
      if (this.#isOpen()) this.#tries.lost('network_unreachable', null);
      return;
    }
    const request = this.#pairing?.request;
    const failed = (error: unknown): void => {
      this.#driverFailed(request === undefined ? 'resume' : 'link', error);
      void this.#port.emit({
        type: 'state',
        state: 'lost',
        reason: 'driver_failed',
        detail: details.driver_failed,
        retryAt: null,
      });
    };
    void contain(() => {
      this.live.session ??= this.#options.driver.open(this.live.account, this.#port);
      const { session } = this.live;
      return request === undefined ? session.resume() : session.link(request);
    }, failed);
  }

  #armRestriction(): void {
    this.#timers.cancel('restriction');
    const until = this.live.row.restrictedUntil;
    if (until === null) return;
    // At most an hour at once, and never in a tight loop while the two clocks disagree.
    const wait = Math.min(Math.max(until - this.#environment.clock.now(), 50), 3_600_000);
    this.#timers.later('restriction', wait, () => {
      void this.#port.inTurn(async () => {
        const now = await this.#environment.storage.now();
        await this.#apply({ type: 'restriction_due', now });
      });
    });
  }

  #wake(envelope: Json): void {
    if (isRowChanged(envelope)) {
      void this.refresh();
      return;
    }
    this.#listeners.wake(envelope);
    if (!this.live.connected) this.#tries.wanted();
  }

  #driverFailed(call: string, error: unknown): void {
    const { id: accountId, channel } = this.live.account;
    this.#environment.faults.report({ kind: 'threw', channel, accountId, call, error });
  }
}

function isRowChanged(envelope: Json): boolean {
  return (
    typeof envelope === 'object' &&
    envelope !== null &&
    'accounts' in envelope &&
    envelope.accounts === rowChanged.accounts
  );
}

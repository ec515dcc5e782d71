import type { Release } from '../../../core/contracts/broker.ts';
import type { AnswerOutcome, Driver, LinkRequest } from '../../../core/contracts/driver.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { AccountRow, Fence } from '../contract.ts';
import { rowChanged } from '../lanes/restrict.ts';
import type { Happening } from '../status.ts';
import { reconnectDelay } from './backoff.ts';
import { atMost, contain } from './contain.ts';
import { FencedCredentials, type Phase } from './credentials.ts';
import { isAnswerOutcome } from './driver-values.ts';
import type { SessionEnvironment } from './environment.ts';
import { Intake } from './intake.ts';
import { NamedTimers } from './named-timers.ts';
import { OpenSession } from './open-session.ts';
import { Pairing } from './pairing.ts';
import { Participants } from './participants.ts';

/** How long a log-out may take before the connection is cut. */
const logOutMs = 3_000;

/** Pause before a status move is tried again that the database could not take. */
const retryMoveMs = 500;

/** What a runner is made for. */
export interface RunnerOptions {
  readonly row: AccountRow;
  readonly fence: Fence;
  readonly driver: Driver;
  /** When the lease ends, on the monotonic clock. */
  readonly deadline: number;
  /** Called once, when the session is over. */
  onOver(runner: SessionRunner): void;
}

/** Runs one account's session from the lease that was won to its end: driver, status, reconnects. */
export class SessionRunner {
  readonly live: OpenSession;
  readonly #environment: SessionEnvironment;
  readonly #options: RunnerOptions;
  readonly #log: GatewayLog;
  readonly #intake: Intake;
  readonly #participants: Participants;
  readonly #timers: NamedTimers<'retry' | 'pairing' | 'restriction'>;
  #pairing: Pairing | null = null;
  #tries = 0;
  #leaving = false;
  #over: Promise<void> | null = null;
  #hosting: Promise<Release> | null = null;

  constructor(environment: SessionEnvironment, options: RunnerOptions) {
    const { row, fence, driver, deadline } = options;
    const { storage, sealer, clock, parts, media } = environment;
    this.#environment = environment;
    this.#options = options;
    this.#log = environment.log.child({ account: row.id, channel: row.channel });
    this.#timers = new NamedTimers(environment.timers);
    this.live = new OpenSession(row, fence, driver.capabilities, clock, deadline, (call, error) =>
      this.#driverFailed(call, error),
    );
    this.#participants = new Participants(parts, this.live, this.#log);
    const credentials = new FencedCredentials(storage, sealer, fence, () => this.#phase());
    const port = {
      credentials,
      participants: this.#participants,
      media,
      faults: environment.faults,
      log: this.#log,
    };
    this.#intake = new Intake(this.live, port, {
      isOpen: () => this.#isOpen(),
      happened: (happening) => this.#happened(happening),
      step: (step) => this.#pairing?.take({ type: 'step', step }),
    });
  }

  /** Null when nothing is being paired. */
  get pairing(): Pairing | null {
    return this.#pairing;
  }

  /** Opens the session and connects it: from its credentials, or by linking when a request is given. */
  start(link: LinkRequest | null): void {
    const { broker, clock, settings } = this.#environment;
    void this.#participants.tell('opened');
    this.#hosting = broker.host(this.live.account.id, (envelope) => this.#wake(envelope));
    this.#hosting.catch((error) => this.#log.error({ err: error }, 'the account gets no messages'));
    if (link !== null) {
      this.#pairing = new Pairing(link, clock.now() + settings.pairingTimeoutMs);
      this.#timers.later('pairing', settings.pairingTimeoutMs, () => {
        void this.#intake.inTurn(() => this.#happened({ type: 'pairing_timeout' }));
      });
    }
    this.#armRestriction();
    this.#attempt();
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
      await this.#intake.inTurn(() => this.#happened({ type: 'refused' }));
    }
    // What the driver emitted before it answered is taken first.
    await this.#intake.inTurn(async () => undefined);
    return outcome;
  }

  /** Reads the record again: somebody else has changed it. */
  refresh(): Promise<void> {
    return this.#intake.inTurn(async () => {
      const [row] = await this.#environment.storage.read.accounts.find([this.live.account.id]);
      if (row === undefined || !this.#isOpen() || row.status === 'disconnected') return;
      const before = this.live.row;
      this.live.row = row;
      if (before.restriction === row.restriction && before.status === row.status) return;
      this.#armRestriction();
      if (this.live.connected) void this.#participants.tell('ready');
    });
  }

  /** Lets nothing out any more and resolves when what is under way is answered. */
  drain(): Promise<void> {
    return this.live.drain();
  }

  /** The account was removed or is linked anew: leaves the network politely, then closes. */
  async logOut(): Promise<void> {
    this.#leaving = true;
    const { session } = this.live;
    if (session !== null && this.#over === null && this.live.isHeld()) {
      const failed = (error: unknown): void => this.#driverFailed('logOut', error);
      await atMost(
        logOutMs,
        contain(() => session.logOut(), failed),
      );
    }
    await this.close();
  }

  /**
   * Cuts the connection at once, without logging out and without a status move. Idempotent.
   * @returns resolves once the parts have stored what they had under way
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
    this.#pairing?.take({ type: 'over' });
    this.#hosting?.then((release) => release()).catch(() => undefined);
    const closed = this.#participants.tell('closed');
    this.#options.onOver(this);
    await closed;
  }

  #phase(): Phase {
    if (this.#over !== null) return 'over';
    return this.#leaving ? 'leaving' : 'open';
  }

  #isOpen(): boolean {
    return this.#phase() === 'open';
  }

  /** Whether a driver call may go out. */
  #mayCall(): boolean {
    return this.#isOpen() && this.live.mayAct();
  }

  async #happened(happening: Happening): Promise<void> {
    if (happening.type === 'lost') {
      // Said when it was emitted already; a `connected` from before may have been taken in between.
      this.live.connected = false;
      this.#scheduleRetry();
    }
    const before = this.live.row.status;
    const outcome = await this.#move(happening);
    const { status } = outcome.row;
    if (outcome.kind === 'refused') {
      this.#log.warn({ happening: happening.type, status }, 'a status move was refused');
      return;
    }
    this.live.row = outcome.row;
    if (outcome.kind === 'claimed_elsewhere') {
      this.#log.warn({}, 'the number is linked to another tenant: this link is given up');
      return this.logOut();
    }
    if (status === 'disconnected') return this.close();
    if (happening.type === 'lost') {
      this.#pairing?.take({ type: 'lost' });
      return;
    }
    if (happening.type === 'connected') this.#nowConnected();
    this.#armRestriction();
    if (this.live.connected) {
      void this.#participants.tell('ready');
    } else if (before === 'restricted' && status === 'connected') {
      // The restriction ended while the network was away: a try to reconnect is under way already.
      this.live.row = (await this.#move({ type: 'lost' })).row;
    }
  }

  #nowConnected(): void {
    this.live.connected = true;
    this.#tries = 0;
    this.#timers.cancel('retry');
    this.#timers.cancel('pairing');
    this.#pairing?.take({ type: 'connected' });
    this.#pairing = null;
  }

  /** Commits a move, however often the database has to be asked, for as long as the session is open. */
  async #move(happening: Happening) {
    const { storage, lanes, timers } = this.#environment;
    for (;;) {
      this.#intake.refuseWhenOver();
      try {
        const outcome = await storage.submit(lanes.transition, {
          fence: this.live.fence,
          happening,
        });
        this.#intake.refuseWhenOver();
        if (outcome.kind !== 'fenced') return outcome;
      } catch (error) {
        this.#intake.refuseWhenOver();
        this.#log.warn({ err: error, happening: happening.type }, 'a status move waits');
        await new Promise<void>((resolve) => {
          timers.after(retryMoveMs, resolve);
        });
        continue;
      }
      this.#log.warn({}, 'the lease went to another process: this session is closed');
      void this.close();
    }
  }

  /** One try to link or to reconnect. */
  #attempt(): void {
    if (!this.#mayCall()) return;
    const request = this.#pairing?.request;
    const failed = (error: unknown): void => {
      this.#driverFailed(request === undefined ? 'resume' : 'link', error);
      void this.#intake.emit({
        type: 'state',
        state: 'lost',
        reason: 'driver_failed',
        detail: 'The driver of this channel failed; it is tried again.',
        retryAt: null,
      });
    };
    void contain(() => {
      this.live.session ??= this.#options.driver.open(this.live.account, this.#intake);
      const { session } = this.live;
      return request === undefined ? session.resume() : session.link(request);
    }, failed);
  }

  #scheduleRetry(): void {
    if (this.#timers.has('retry')) return;
    const { settings, random } = this.#environment;
    const delay = reconnectDelay(this.#tries, settings.reconnectMaxMs, random());
    this.#tries += 1;
    this.#timers.later('retry', delay, () => this.#attempt());
  }

  #armRestriction(): void {
    this.#timers.cancel('restriction');
    const until = this.live.row.restrictedUntil;
    if (until === null) return;
    // At most an hour at once, and never in a tight loop while the two clocks disagree.
    const wait = Math.min(Math.max(until - this.#environment.clock.now(), 50), 3_600_000);
    this.#timers.later('restriction', wait, () => {
      void this.#intake.inTurn(async () => {
        const now = await this.#environment.storage.now();
        await this.#happened({ type: 'restriction_due', now });
      });
    });
  }

  #wake(envelope: Json): void {
    if (isRowChanged(envelope)) void this.refresh();
    else this.#participants.wake(envelope);
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

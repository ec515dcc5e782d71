import type { Release } from '../../../core/contracts/broker.ts';
import type { Driver, DriverEvent, LinkRequest, Port } from '../../../core/contracts/driver.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { AccountRow, Fence, SessionPart } from '../contract.ts';
import { rowChanged } from '../lanes/restrict.ts';
import type { Happening } from '../status.ts';
import { reconnectDelay } from './backoff.ts';
import { atMost, contain } from './contain.ts';
import { FencedCredentials, type Phase } from './credentials.ts';
import type { SessionEnvironment } from './environment.ts';
import { happeningOf, isDriverEvent } from './happening.ts';
import { OpenSession } from './open-session.ts';
import { Pairing } from './pairing.ts';
import { Turns } from './turns.ts';

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
  readonly #turns = new Turns();
  readonly #port: Port;
  readonly #timers = new Map<'retry' | 'pairing' | 'restriction', () => void>();
  #pairing: Pairing | null = null;
  #tries = 0;
  #leaving = false;
  #over: Promise<void> | null = null;
  #released: Promise<Release> | null = null;

  constructor(environment: SessionEnvironment, options: RunnerOptions) {
    const { row, fence, driver, deadline } = options;
    this.#environment = environment;
    this.#options = options;
    this.#log = environment.log.child({ account: row.id, channel: row.channel });
    this.live = new OpenSession(row, fence, driver.capabilities, environment.clock, deadline);
    const { storage, sealer } = environment;
    this.#port = {
      emit: (event) => this.#emit(event),
      credentials: new FencedCredentials(storage, sealer, fence, () => this.#phase()),
      sentMessage: (reference) => this.#sentMessage(reference),
      log: this.#log,
    };
  }

  get pairing(): Pairing | null {
    return this.#pairing;
  }

  /** Opens the session and connects it: from its credentials, or by linking when a request is given. */
  start(link: LinkRequest | null): void {
    const { broker, clock, settings } = this.#environment;
    this.#tellParts('opened', (part) => part.opened(this.live));
    this.#released = broker.host(this.live.account.id, (envelope) => this.#wake(envelope));
    this.#released.catch((error) =>
      this.#log.error({ err: error }, 'the account is not reachable'),
    );
    if (link !== null) {
      this.#pairing = new Pairing(link, clock.now() + settings.pairingTimeoutMs);
      this.#later('pairing', settings.pairingTimeoutMs, () => {
        void this.#inTurn({ type: 'pairing_timeout' });
      });
    }
    this.#armRestriction();
    this.#attempt();
  }

  /** Asks the driver to hand a value to the network. @throws DriverError, or what a broken driver throws */
  async answer(field: 'code' | 'password', value: string): Promise<'accepted' | 'wrong'> {
    const { session } = this.live;
    if (session === null || !this.#mayCall()) throw new Error('the session cannot act');
    const outcome = await session.answer(field, value);
    if (outcome === 'wrong' && this.#pairing?.wrongValue() === true) {
      await this.#inTurn({ type: 'refused' });
    }
    // What the driver emitted before it answered is taken first.
    await this.#turns.state(async () => undefined);
    return outcome;
  }

  /** Reads the record again: somebody else has changed it. */
  refresh(): Promise<void> {
    return this.#quietly(async () => {
      const [row] = await this.#environment.storage.read.accounts.find([this.live.account.id]);
      if (row === undefined || !this.#isOpen() || row.status === 'disconnected') return;
      const before = this.live.row;
      this.live.row = row;
      if (before.restriction === row.restriction && before.status === row.status) return;
      this.#armRestriction();
      if (this.live.connected) this.#tellParts('ready', (part) => part.ready(this.live));
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
      const logOut = contain(
        () => session.logOut(),
        (error) => this.#driverFailed('logOut', error),
      );
      await atMost(logOutMs, logOut);
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
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#pairing?.take({ type: 'over' });
    this.#released?.then((release) => release()).catch(() => undefined);
    const closed = this.#tellParts('closed', (part) => part.closed(this.live));
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

  #emit(event: DriverEvent): Promise<void> {
    const taken = this.#take(event);
    // A driver that does not look at the outcome must not bring the process down.
    taken.catch((error) => this.#log.debug({ err: error, event: event?.type }, 'not taken'));
    return taken;
  }

  async #take(event: DriverEvent): Promise<void> {
    if (!isDriverEvent(event)) {
      this.#log.error({}, 'the driver emitted something that is no event');
      throw new TypeError('this is no event of the driver contract');
    }
    this.#refuseWhenOver();
    if (event.type === 'state') {
      if (event.state === 'lost' || event.state === 'logged_out') this.live.connected = false;
      const happening = happeningOf(event, this.live.account.channel);
      return this.#turns.state(() => this.#happened(happening));
    }
    if (event.type === 'step') {
      return this.#turns.state(async () => {
        this.#refuseWhenOver();
        this.#pairing?.take({ type: 'step', step: event.step });
      });
    }
    return this.#turns.event(event.type, async () => {
      this.#refuseWhenOver();
      for (const part of this.#environment.parts) await part.receive(this.live, event);
    });
  }

  #inTurn(happening: Happening): Promise<void> {
    return this.#quietly(() => this.#happened(happening));
  }

  /** Takes its turn among the states; a failure is logged. */
  #quietly(take: () => Promise<void>): Promise<void> {
    return this.#turns.state(async () => {
      if (!this.#isOpen()) return;
      await take().catch((error) => {
        if (this.#isOpen()) this.#log.error({ err: error }, 'a status move failed');
      });
    });
  }

  async #happened(happening: Happening): Promise<void> {
    if (happening.type === 'lost') this.#scheduleRetry();
    const before = this.live.row.status;
    const outcome = await this.#move(happening);
    if (outcome.kind === 'refused') {
      const { status } = outcome.row;
      this.#log.warn({ happening: happening.type, status }, 'a status move was refused');
      return;
    }
    this.live.row = outcome.row;
    if (outcome.kind === 'claimed_elsewhere') {
      this.#log.warn({}, 'the number is linked to another tenant: this link is given up');
      return this.logOut();
    }
    if (outcome.row.status === 'disconnected') {
      await this.close();
      return;
    }
    if (happening.type === 'connected') this.#nowConnected();
    if (happening.type === 'lost') this.#pairing?.take({ type: 'lost' });
    if (happening.type === 'lost' || happening.type === 'pairing_timeout') return;
    this.#armRestriction();
    if (this.live.connected) {
      this.#tellParts('ready', (part) => part.ready(this.live));
    } else if (before === 'restricted' && outcome.row.status === 'connected') {
      // The restriction ended while the network was away: a try to reconnect is under way already.
      this.live.row = (await this.#move({ type: 'lost' })).row;
    }
  }

  #nowConnected(): void {
    this.live.connected = true;
    this.#tries = 0;
    this.#cancel('retry');
    this.#cancel('pairing');
    this.#pairing?.take({ type: 'connected' });
    this.#pairing = null;
  }

  /** Commits a move, however often the database has to be asked, for as long as the session is open. */
  async #move(happening: Happening) {
    const { storage, lanes } = this.#environment;
    for (;;) {
      this.#refuseWhenOver();
      try {
        const input = { fence: this.live.fence, happening };
        const outcome = await storage.submit(lanes.transition, input);
        this.#refuseWhenOver();
        if (outcome.kind !== 'fenced') return outcome;
      } catch (error) {
        this.#refuseWhenOver();
        this.#log.warn({ err: error, happening: happening.type }, 'a status move waits');
        await new Promise<void>((resolve) => {
          this.#environment.timers.after(retryMoveMs, resolve);
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
      void this.#emit({ type: 'state', state: 'lost', message: 'the driver failed' }).catch(
        () => undefined,
      );
    };
    void contain(() => {
      this.live.session ??= this.#options.driver.open(this.live.account, this.#port);
      const { session } = this.live;
      return request === undefined ? session.resume() : session.link(request);
    }, failed);
  }

  #scheduleRetry(): void {
    if (this.#timers.has('retry')) return;
    const { settings, random } = this.#environment;
    const delay = reconnectDelay(this.#tries, settings.reconnectMaxMs, random());
    this.#tries += 1;
    this.#later('retry', delay, () => this.#attempt());
  }

  #armRestriction(): void {
    this.#cancel('restriction');
    const until = this.live.row.restrictedUntil;
    if (until === null) return;
    // At most an hour at once, and never in a tight loop while the two clocks disagree.
    const wait = Math.min(Math.max(until - this.#environment.clock.now(), 50), 3_600_000);
    this.#later('restriction', wait, () => {
      void this.#quietly(async () => {
        const now = await this.#environment.storage.now();
        await this.#happened({ type: 'restriction_due', now });
      });
    });
  }

  #wake(envelope: Json): void {
    if (isRowChanged(envelope)) void this.refresh();
    else this.#tellParts('wake', (part) => part.wake(this.live.account.id, envelope));
  }

  async #sentMessage(reference: string) {
    this.#refuseWhenOver();
    for (const part of this.#environment.parts) {
      const message = await part.sentMessage(this.live, reference);
      if (message !== null) return message;
    }
    return null;
  }

  async #tellParts(name: string, tell: (part: SessionPart) => unknown): Promise<void> {
    await Promise.all(
      this.#environment.parts.map((part) =>
        contain(
          () => tell(part),
          (error) => this.#log.error({ err: error, call: name }, 'a part of the session failed'),
        ),
      ),
    );
  }

  #later(name: 'retry' | 'pairing' | 'restriction', ms: number, run: () => void): void {
    this.#cancel(name);
    const cancel = this.#environment.timers.after(ms, () => {
      this.#timers.delete(name);
      if (this.#isOpen()) run();
    });
    this.#timers.set(name, cancel);
  }

  #cancel(name: 'retry' | 'pairing' | 'restriction'): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
  }

  #driverFailed(call: string, error: unknown): void {
    this.#log.error({ err: error, call }, 'the driver failed');
  }

  #refuseWhenOver(): void {
    if (!this.#isOpen()) throw new Error('the session is over');
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

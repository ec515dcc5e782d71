import type { Release } from '../../../core/contracts/broker.ts';
import type { AnswerOutcome, Driver, LinkRequest } from '../../../core/contracts/driver.ts';
import { notConnected } from '../../../core/contracts/driver-error.ts';
import type { DriverFaultKind } from '../../../core/contracts/driver-faults.ts';
import type { Json } from '../../../core/contracts/json.ts';
import { isAnswerOutcome } from '../../../core/driver-values.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import type { ErasedCredentials } from '../lanes/forget.ts';
import { rowChanged } from '../lanes/restrict.ts';
import { details } from '../reasons.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { FollowedAccount } from '../tables/accounts.ts';
import { FencedCredentials } from './credentials.ts';
import { DriverConnection } from './driver-connection.ts';
import { SessionEnding } from './ending.ts';
import type { SessionEnvironment } from './environment.ts';
import { EventQueues } from './event-queues.ts';
import { SessionListeners } from './listeners.ts';
import { OpenSession } from './open-session.ts';
import { type Pairing, wrongValues } from './pairing.ts';
import { SessionStatus } from './session-status.ts';
import { storedAnswer } from './stored-values.ts';
import { Tries } from './tries.ts';

/** Dependencies of a runner. */
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

/** Runs one account's session from the lease that was won to its end, and passes requests on. */
export class SessionRunner {
  readonly live: OpenSession;
  readonly #environment: SessionEnvironment;
  readonly #log: GatewayLog;
  readonly #credentials: FencedCredentials;
  readonly #listeners: SessionListeners;
  readonly #tries: Tries;
  readonly #ending: SessionEnding;
  readonly #status: SessionStatus;
  readonly #queues = new EventQueues();
  readonly #connection: DriverConnection;
  #hosting: Promise<Release> | null = null;

  constructor(environment: SessionEnvironment, options: RunnerOptions) {
    const { row, fence, driver, lease } = options;
    const { storage, sealer, media, metrics } = environment;
    this.#environment = environment;
    const log = environment.log.child({ account: row.id, channel: row.channel });
    this.#log = log;
    const failed = (call: string, error: unknown) => this.#driverFailed('threw', call, error);
    const live = new OpenSession(row, fence, driver.capabilities, lease, media, failed);
    this.live = live;
    const tries = new Tries(environment, () => this.#connection.attempt());
    this.#tries = tries;
    const listeners = new SessionListeners(environment.listeners, live, log);
    this.#listeners = listeners;
    const ending = new SessionEnding({
      ...{ live, listeners, log, failed },
      release: () => this.#release(),
      onOver: (closed) => options.onOver(this, closed),
    });
    this.#ending = ending;
    const status = new SessionStatus({
      ...{ environment, live, listeners, tries, ending, log },
      inStateQueue: (take) => this.#inStateQueue(take),
    });
    this.#status = status;
    const credentials = new FencedCredentials({
      ...{ storage, sealer, fence },
      cache: environment.credentialCache.part(),
      counted: metrics.credentialRead,
      refused: (error) => this.#driverFailed('nonsense', 'credentials.set', error),
      phase: () => ending.phase,
    });
    this.#credentials = credentials;
    this.#connection = new DriverConnection({
      ...{ environment, driver, live, credentials, listeners, status, tries, log, failed },
      ...{ queues: this.#queues, isOpen: () => ending.isOpen, mayCall: () => this.#mayCall() },
      inStateQueue: (take) => this.#inStateQueue(take),
    });
  }

  /** Null when nothing is being paired. */
  get pairing(): Pairing | null {
    return this.#status.pairing;
  }

  /** Whether it logs out of the network already. */
  get isLeaving(): boolean {
    return this.#ending.phase === 'leaving';
  }

  /** When the next try to connect is due, milliseconds since the Unix epoch; null when none is planned. */
  get retryAt(): number | null {
    return this.#tries.dueAt;
  }

  /** Opens the session and connects it: from its credentials, or by linking when a request is given. */
  start(link: LinkRequest | null): void {
    const { broker } = this.#environment;
    void this.#listeners.notify('opened');
    this.#hosting = broker.host(this.live.account.id, (envelope) => this.#wake(envelope));
    this.#hosting.catch((error) =>
      this.#log.error({ err: error }, 'the account gets no hints from the broker'),
    );
    if (link !== null) this.#status.beginPairing(link);
    this.#status.planRestrictionEnd();
    // The network may have asked an earlier process to wait.
    this.#tries.first(link !== null, link === null ? this.live.row.retryAt : null);
  }

  /** The lease was renewed after its local deadline had passed. */
  mayActAgain(): void {
    if (this.live.connected) void this.#listeners.notify('ready');
  }

  /**
   * Asks the driver to hand a value to the network.
   * @throws DriverError, `not_connected` when the session may not act; what a broken driver throws
   */
  async answer(field: string, value: string): Promise<AnswerOutcome> {
    const { session } = this.live;
    if (session === null || !this.#mayCall()) throw notConnected();
    const answer = await session.answer(field, value);
    if (!isAnswerOutcome(answer)) {
      throw new TypeError('the driver answered what is no outcome');
    }
    const outcome = storedAnswer(answer);
    if (!outcome.accepted && this.pairing?.wrongValue() === true) {
      const detail = details.wrong_values(field, wrongValues);
      const cause = { reason: 'login_refused', detail, retryAt: null } as const;
      await this.#inStateQueue(() => this.#status.apply({ type: 'refused', ...cause }));
    }
    // Events that the driver emitted before it answered are taken first.
    await this.#inStateQueue(async () => undefined);
    return outcome;
  }

  /**
   * Deletes credentials that are about an erased contact, those in the memory of the driver included, unless other
   * contacts are at the address by now.
   * @throws Error when the session is over or has lost its lease
   */
  async forget(credentials: ErasedCredentials): Promise<void> {
    if (!this.#mayCall()) throw new Error('the session cannot act');
    await this.#credentials.forget(credentials, () => {
      try {
        this.live.session?.forget?.(credentials.names);
      } catch (error) {
        this.#driverFailed('threw', 'forget', error);
      }
    });
  }

  /** Whether a record asks for what the session does not do: another restriction, or another proxy. */
  differs(account: FollowedAccount): boolean {
    const isRestricted = this.live.row.restriction !== account.restriction;
    return isRestricted || this.#connection.isProxiedElsewhere(account);
  }

  /** Reads the record again: somebody else has changed it. */
  refresh(): Promise<void> {
    return this.#inStateQueue(async () => {
      const [row] = await this.#environment.storage.read.accounts.find([this.live.account.id]);
      if (row === undefined || !this.#ending.isOpen || row.status === 'disconnected') return;
      const before = this.live.row;
      this.live.row = row;
      if (this.#connection.isProxiedElsewhere(row)) await this.#connection.replace();
      if (before.restriction === row.restriction && before.status === row.status) return;
      this.#status.planRestrictionEnd();
      if (this.live.connected) void this.#listeners.notify('ready');
    });
  }

  /** Sends nothing more; resolves when the sends under way are answered. */
  drain(): Promise<void> {
    return this.live.drain();
  }

  /** Logs out of the network, then closes; see `SessionEnding`. */
  logOut(): Promise<void> {
    return this.#ending.logOut();
  }

  /** Ends a pairing that came to nothing; see `SessionEnding`. */
  endPairing(ended: Promise<boolean>): Promise<void> {
    return this.#ending.endPairing(ended);
  }

  /** Cuts the connection at once; see `SessionEnding`. */
  close(): Promise<void> {
    return this.#ending.close();
  }

  #release(): void {
    this.#status.end();
    this.#tries.end();
    this.#connection.end();
    this.#hosting?.then((release) => release()).catch(() => undefined);
  }

  /** Whether a driver call may go out. */
  #mayCall(): boolean {
    return this.#ending.isOpen && this.live.mayAct();
  }

  /** Runs in the queue of the states, unless the session is over by then. A failure is logged. */
  async #inStateQueue(take: () => Promise<void>): Promise<void> {
    await this.#queues.state(async () => {
      if (!this.#ending.isOpen) return;
      await take().catch((error) => {
        if (this.#ending.isOpen) this.#log.error({ err: error }, 'a status change failed');
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

  #driverFailed(kind: DriverFaultKind, call: string, error: unknown): void {
    const { id: accountId, channel } = this.live.account;
    this.#environment.faults.report({ kind, channel, accountId, call, error });
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

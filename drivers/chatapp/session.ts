import type {
  AnswerOutcome,
  ContactAddress,
  DriverAccount,
  LinkRequest,
  OutboundMessage,
  Port,
  Sent,
  Session,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import type { ChatappAttempt, Shared } from './attempt.ts';
import { AttemptFollower } from './attempt-follower.ts';
import { loggedOut } from './causes.ts';
import { NoAnswer } from './client.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import { SessionStorage } from './storage/session-storage.ts';
import { Turn } from './turn.ts';

/** One account's link to the network: at most one attempt at a time. */
export class ChatappSession implements Session {
  readonly #shared: Shared;
  readonly #account: DriverAccount;
  readonly #port: Port;
  readonly #attempts: AttemptFollower;
  /** The present attempt's; events of earlier ones are dropped. */
  #turn: Turn;
  #closed = false;
  #replaced = false;

  constructor(shared: Shared, account: DriverAccount, port: Port) {
    this.#shared = shared;
    this.#account = account;
    this.#port = port;
    const linked = (): void => shared.localSessions.linked(this.#number, this);
    this.#attempts = new AttemptFollower({ shared, account, port, linked });
    this.#turn = new Turn(account, port);
  }

  async link({ method }: LinkRequest): Promise<void> {
    const turn = this.#begin();
    try {
      const taken = this.#attempts.takeCodeInHand();
      const inHand = method === 'code' ? taken : null;
      if (inHand === null) await this.#attempts.startAnew();
      if (turn.isOver) return;
      this.#replaced = false;
      const storage = inHand?.storage ?? this.#storage();
      const attempt = this.#attempts.open(turn, storage);
      attempt.mayBeInside = inHand?.mayBeInside === true;
      await attempt.logIn(method, inHand?.sent);
    } catch (error) {
      await this.#attempts.failed(turn, error);
    }
  }

  async resume(): Promise<void> {
    const turn = this.#begin();
    try {
      const storage = this.#storage();
      const isLinked = await storage.load();
      if (this.#replaced || !isLinked) {
        const reason = this.#replaced ? 'replaced' : 'session_lost';
        return await turn.end(loggedOut(reason));
      }
      await this.#attempts.memory.progress.load();
      if (turn.isOver) return;
      const attempt = this.#attempts.open(turn, storage);
      attempt.linked = true;
      const connection = attempt.makeConnection();
      await connection.accountCheck.load();
      await connection.accountCheck.confirm();
      await this.#attempts.connected(turn, attempt, connection);
    } catch (error) {
      await this.#attempts.failed(turn, error);
    }
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    const turn = this.#turn;
    const { attempt } = turn;
    const login = attempt?.login ?? null;
    if (attempt === null || login === null) throw notConnected();
    try {
      attempt.mayBeInside = true;
      const outcome = await login.answer(field, value);
      attempt.mayBeInside = false;
      return outcome;
    } catch (error) {
      await this.#attempts.failed(turn, error);
      if (isUnanswered(error)) throw notConnected();
      // The value was accepted or refused; the state event says which.
      return { accepted: true };
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    const connection = this.#turn.attempt?.connection ?? null;
    if (connection === null) throw notConnected();
    return await connection.send(message, signal);
  }

  async typing(to: ContactAddress): Promise<void> {
    await this.#turn.attempt?.connection?.typing(to);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    const { id: accountId } = this.#account;
    try {
      const attempt = await this.#attemptToLeave();
      const isLeft = attempt === null || (await attempt.leave());
      this.#turn.cut();
      if (!isLeft) return 'still_linked';
      await this.#attempts.startAnew();
      return 'unlinked';
    } catch (error) {
      this.#port.log.info(
        { accountId, error: loggableError(error) },
        'the log-out is not complete',
      );
      return 'still_linked';
    } finally {
      this.#turn.cut();
    }
  }

  forget(names: readonly string[]): void {
    this.#attempts.memory.forget(names);
  }

  close(): void {
    this.#closed = true;
    this.#shared.localSessions.closed(this.#number, this);
    this.#turn.cut();
  }

  /** Another session of this process has linked the number: this one logs out. */
  replaced(): void {
    const turn = this.#turn;
    const { attempt } = turn;
    this.#replaced = true;
    if (attempt === null) return;
    attempt.connection?.stop();
    void attempt.leave().then(() => turn.end(loggedOut('replaced')));
  }

  get #number(): string {
    return `${this.#account.channel} ${this.#account.identifier}`;
  }

  /** Ends the present attempt and begins a new one. */
  #begin(): Turn {
    this.#turn.cut();
    this.#turn = new Turn(this.#account, this.#port);
    if (this.#closed) this.#turn.cut();
    return this.#turn;
  }

  #storage(): SessionStorage {
    return new SessionStorage(this.#attempts.memory.buffer);
  }

  /** An attempt to log out on, silent otherwise; null when nobody is linked. */
  async #attemptToLeave(): Promise<ChatappAttempt | null> {
    if (this.#closed) throw new Error('the session is closed');
    const present = this.#turn.attempt;
    if (present?.linked === true) {
      present.silence();
      return present;
    }
    if (present?.mayBeInside === true) {
      const leaving = new Turn(this.#account, this.#port);
      this.#turn.passTo(leaving);
      this.#turn = leaving;
      return present;
    }
    const turn = this.#begin();
    const inHand = this.#attempts.takeCodeInHand();
    if (inHand?.mayBeInside === true) return this.#attempts.openToLeave(turn, inHand.storage);
    const storage = this.#storage();
    if (!(await storage.load())) return null;
    if (turn.isOver) throw new Error('the session is closed');
    return this.#attempts.openToLeave(turn, storage);
  }
}

/** Whether the network could not be asked, or could not serve the call for reasons of its own. */
function isUnanswered(error: unknown): boolean {
  const kind = meaningOf(error)?.kind;
  return error instanceof NoAnswer || kind === 'internal' || kind === 'elsewhere';
}

import { setImmediate as immediate } from 'node:timers/promises';
import type { tl } from '@mtcute/core';
import type { DriverAccount, Port, StateEvent } from '../../core/contracts/driver.ts';
import { WrongPhone } from './account-check.ts';
import { type AttemptListener, ChatappAttempt, type CodeInHand, type Shared } from './attempt.ts';
import { type Break, disconnected, loggedOut, outcomeOf } from './causes.ts';
import type { ChatappConnection } from './connection.ts';
import { wrongPhoneRefusal } from './leaving.ts';
import { Memory } from './memory.ts';
import { e164Of } from './person.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import type { SessionStorage } from './storage/session-storage.ts';
import type { Turn } from './turn.ts';

/** Dependencies of the follower of a session's attempts. */
export interface AttemptFollowerParts {
  readonly shared: Shared;
  readonly account: DriverAccount;
  readonly port: Port;
  /** Called when the user has linked the account, and the gateway knows. */
  linked(): void;
}

/** Opens the attempts of one session, and decides what comes of each: a connection, or its last event. */
export class AttemptFollower {
  readonly #parts: AttemptFollowerParts;
  #memory: Memory;
  /** Of a code login whose connection was lost. */
  #codeInHand: CodeInHand | null = null;
  /** Connections in a row on which the network did not know the key of the session. */
  #unknownKeys = 0;

  constructor(parts: AttemptFollowerParts) {
    this.#parts = parts;
    this.#memory = new Memory(parts.port.credentials);
  }

  /** What is kept of the link. */
  get memory(): Memory {
    return this.#memory;
  }

  /** Deletes all that is stored of the link before, and keeps nothing of it. @throws as `CredentialStore.clear` does */
  async startAnew(): Promise<void> {
    this.#codeInHand = null;
    try {
      await this.#memory.buffer.clear();
    } finally {
      this.#memory = new Memory(this.#parts.port.credentials);
    }
  }

  /** Takes what the next code login goes on with; null: it starts anew. */
  takeCodeInHand(): CodeInHand | null {
    const taken = this.#codeInHand;
    this.#codeInHand = null;
    return taken;
  }

  /** Opens the attempt of a turn. */
  open(turn: Turn, storage: SessionStorage): ChatappAttempt {
    const attempt: ChatappAttempt = this.#made(storage, {
      step: (step) => turn.emit({ type: 'step', step }),
      loggedIn: (user) => this.#loggedIn(turn, attempt, user),
      refused: (error) => this.#refused(turn, attempt, error),
      broken: (how) => void this.#broken(turn, how),
      failed: (error) => void this.failed(turn, error),
    });
    turn.take(attempt);
    return attempt;
  }

  /** Opens an attempt of the linked account to log out on: nothing is heard of it. */
  openToLeave(turn: Turn, storage: SessionStorage): ChatappAttempt {
    const attempt: ChatappAttempt = this.#made(storage, {
      step: async () => undefined,
      loggedIn: async () => undefined,
      refused: () => undefined,
      broken: () => attempt.cut(),
      failed: () => undefined,
    });
    attempt.linked = true;
    turn.take(attempt);
    return attempt;
  }

  /** The attempt has become a connection of the linked account. */
  async connected(
    turn: Turn,
    attempt: ChatappAttempt,
    connection: ChatappConnection,
  ): Promise<void> {
    if (turn.isOver) return;
    this.#unknownKeys = 0;
    attempt.login = null;
    // Set before `emit` resolves, since the gateway may send at once.
    attempt.connection = connection;
    await turn.emit({ type: 'state', state: 'connected' });
    if (!turn.isOver) connection.start();
  }

  /** Ends an attempt that failed. */
  async failed(turn: Turn, error: unknown): Promise<void> {
    if (turn.isOver) return;
    const { attempt } = turn;
    const phase = attempt === null || attempt.login !== null ? 'login' : 'connection';
    if (error instanceof WrongPhone && attempt !== null) {
      return await this.#disown(turn, attempt, error);
    }
    const event = outcomeOf(error, phase, Date.now());
    if ('reason' in event && event.reason === 'driver_failed') {
      const { account, port } = this.#parts;
      const fields = { accountId: account.id, error: loggableError(error) };
      port.log.warn(fields, 'a session failed for a reason of our own');
    }
    await this.#end(turn, event);
  }

  /** Ends an attempt; a code that is in hand outlives a loss. */
  async #end(turn: Turn, event: StateEvent): Promise<void> {
    this.#codeInHand = event.state === 'lost' ? (turn.attempt?.codeInHand ?? null) : null;
    await turn.end(event);
  }

  #made(storage: SessionStorage, listener: AttemptListener): ChatappAttempt {
    const { shared, account, port } = this.#parts;
    const memory = this.#memory;
    return new ChatappAttempt({ shared, account, port, memory, storage }, listener);
  }

  async #loggedIn(turn: Turn, attempt: ChatappAttempt, user: tl.TypeUser): Promise<void> {
    attempt.linked = true;
    const phone = user._ === 'user' ? e164Of(user.phone) : null;
    if (phone !== this.#parts.account.identifier) throw new WrongPhone(phone);
    try {
      await attempt.storeLink(user);
    } catch (error) {
      // Logged out again: the key of this link was not stored.
      await attempt.leave();
      throw error;
    }
    if (turn.isOver) return;
    await this.connected(turn, attempt, attempt.makeConnection());
    if (!turn.isOver) this.#parts.linked();
  }

  /** A refused call, which may concern the whole session. */
  #refused(turn: Turn, attempt: ChatappAttempt, error: tl.RpcError): void {
    const meaning = meaningOf(error);
    const { connection } = attempt;
    if (meaning === null || connection === null) return;
    if (meaning.kind === 'ended') void this.#ended(turn, connection, meaning.reason);
    else connection.judged(meaning);
  }

  /** Ends a session that is gone, after its refused sends have failed for certain. */
  async #ended(
    turn: Turn,
    connection: ChatappConnection,
    reason: 'logged_out' | 'replaced',
  ): Promise<void> {
    await connection.end(reason);
    await immediate();
    await turn.end(loggedOut(reason));
  }

  /** Logs the link of another number out, and keeps nothing of it. */
  async #disown(turn: Turn, attempt: ChatappAttempt, { phone }: WrongPhone): Promise<void> {
    const { account, port } = this.#parts;
    attempt.silence();
    const isLeft = await attempt.leave();
    if (turn.isOver) return;
    await this.startAnew().catch((error: unknown) => {
      const fields = { accountId: account.id, error: loggableError(error) };
      port.log.warn(fields, 'the credentials of another number are not cleared');
    });
    await turn.end(outcomeOf(wrongPhoneRefusal(phone, isLeft), 'login', Date.now()));
  }

  async #broken(turn: Turn, how: Break): Promise<void> {
    if (turn.isOver) return;
    this.#unknownKeys = how === 'key_unknown' ? this.#unknownKeys + 1 : 0;
    // A single unknown key may be a mistake of the network.
    const isGone = this.#unknownKeys > 1;
    if (isGone) await turn.end(loggedOut('logged_out'));
    // Without its key a code in hand is of no use.
    else if (how === 'key_unknown') await turn.end(disconnected(how));
    else await this.#end(turn, disconnected(how));
  }
}

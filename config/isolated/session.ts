import {
  type ContactAddress,
  type DriverAccount,
  DriverError,
  type Port,
  type Session,
  type StateEvent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { NoAnswerInTime } from './blocking-calls.ts';
import { CallsEnded } from './calls.ts';
import { ForgottenNames } from './forgotten-names.ts';
import { LentFiles } from './lent-files.ts';
import { type Sending, servedPort } from './served-port.ts';
import type { DriverThread } from './thread.ts';

/** Dependencies of the sessions on their driver. */
export interface SessionHome {
  /** The thread as it runs; null when there is none. */
  thread(): Promise<DriverThread | null>;
  /** Why there is none. */
  lost(): StateEvent | null;
  closed(): void;
}

let opened = 0;

/** The session of one account, which the driver's thread runs. */
export class IsolatedSession implements Session {
  readonly #account: DriverAccount;
  readonly #port: Port;
  readonly #home: SessionHome;
  readonly #name: string;
  readonly #sending = new Map<string, Sending>();
  /** The thread in which the session was opened. */
  #thread: DriverThread | null = null;
  /** What is lent to it. */
  #files: LentFiles | null = null;
  #forgotten = new ForgottenNames();
  #isClosed = false;

  constructor(account: DriverAccount, port: Port, home: SessionHome) {
    this.#account = account;
    this.#port = port;
    this.#home = home;
    opened += 1;
    this.#name = `session ${opened}`;
  }

  link: Session['link'] = (request) => this.#begin('link', [this.#port.proxy, request]);

  resume: Session['resume'] = () => this.#begin('resume', [this.#port.proxy]);

  answer: Session['answer'] = (...value) => this.#ask('answer', value);

  async send(...[message, signal]: Parameters<Session['send']>): ReturnType<Session['send']> {
    const { media, reference } = message;
    const sending: Sending = { media, withdrawals: [] };
    this.#sending.set(reference, sending);
    try {
      return await this.#ask('send', [message], signal);
    } finally {
      this.#sending.delete(reference);
      const others = [...this.#sending.values()];
      for (const withdraw of sending.withdrawals) {
        if (!others.some(({ withdrawals }) => withdrawals.includes(withdraw))) withdraw();
      }
    }
  }

  async logOut(): ReturnType<Session['logOut']> {
    try {
      return await this.#ask('logOut', []);
    } catch (error) {
      // Without a thread nobody tells the network.
      if (this.#thread === null || this.#isClosed) return 'still_linked';
      throw error;
    }
  }

  /** A thread that does not answer could write back what was forgotten: it is ended. */
  forget(names: readonly string[]): void {
    this.#forgotten.ask(names);
    this.#blocking('forget', [names]);
  }

  async typing(to: ContactAddress): Promise<void> {
    await this.#thread?.calls.ask(this.#name, 'typing', [to]);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#home.closed();
    this.#thread?.calls.withdraw(this.#name);
    try {
      this.#blocking('close', []);
    } finally {
      this.#files?.end();
    }
  }

  /** The thread has ended: whatever it was about to do it has not done, or nobody knows. */
  threadEnded(): void {
    if (this.#thread === null) return;
    this.#thread = null;
    this.#files?.end();
    this.#sayLost();
  }

  /** Ends a thread that does not answer at once. */
  #blocking(name: 'close' | 'forget', args: readonly unknown[]): void {
    const thread = this.#thread;
    if (thread === null || thread.isEnding) return;
    try {
      thread.insistBlocking(this.#name, name, args);
    } catch (error) {
      if (!(error instanceof NoAnswerInTime)) throw error;
      thread.cut();
    }
  }

  #sayLost(): void {
    const loss = this.#home.lost();
    if (loss !== null && !this.#isClosed) this.#port.emit(loss).catch(() => undefined);
  }

  /** Resolves without a connection, too: the outcome is an event. */
  async #begin(name: 'link' | 'resume', args: readonly unknown[]): Promise<void> {
    const thread = await this.#inThread();
    if (thread === null) return this.#sayLost();
    await thread.calls.ask(this.#name, name, args).catch((error: unknown) => {
      if (!(error instanceof CallsEnded)) throw error;
    });
  }

  async #ask<Name extends 'answer' | 'send' | 'logOut'>(
    name: Name,
    args: readonly unknown[],
    signal: AbortSignal | null = null,
  ): Promise<Awaited<ReturnType<Session[Name]>>> {
    const thread = await this.#inThread();
    if (thread === null) throw notConnected();
    try {
      // The session's runner checks what a driver answers.
      const answer = await thread.calls.ask(this.#name, name, args, signal);
      return answer as Awaited<ReturnType<Session[Name]>>;
    } catch (error) {
      if (!(error instanceof CallsEnded)) throw error;
      const message = 'The driver was ended before it answered.';
      throw new DriverError('driver_failed', message, { certain: false, cause: error });
    }
  }

  /** The thread, with the session open in it; null once the session is closed, or while there is no thread. */
  async #inThread(): Promise<DriverThread | null> {
    const thread = await this.#home.thread();
    if (thread === null || this.#isClosed) return null;
    if (this.#thread !== thread) {
      this.#thread = thread;
      this.#forgotten = new ForgottenNames();
      const { calls } = thread;
      const files = new LentFiles(calls);
      this.#files = files;
      const port = servedPort(this.#port, calls, this.#sending, files, this.#forgotten);
      calls.serve(this.#name, port);
      thread.calls.notify('driver', 'open', [this.#name, this.#account]);
    }
    return thread;
  }
}

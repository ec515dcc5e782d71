import {
  DriverError,
  type DriverEvent,
  type Port,
  type Session,
} from '../core/contracts/driver.ts';
import { type DriverFaults, DriverHung } from '../core/contracts/driver-faults.ts';
import { refuseNoSession } from '../core/driver-values.ts';
import { asDriver, asGateway, type CodeOwner } from './driver-context.ts';
import { driverPort, type PortParts } from './driver-port.ts';
import { driverSignal } from './driver-signal.ts';
import type { Holds } from './holds.ts';
import type { Suspect } from './stall-watch.ts';

/** Dependencies that the contained sessions of one driver share. */
export interface SessionParts extends PortParts {
  readonly faults: DriverFaults;
  readonly holds: Holds;
  /** The sentence that the owner of an account reads while it is held back. */
  readonly heldBack: string;
  readonly hangMs: number;
}

/** The end of waiting for work from outside. */
interface Cut<Result> {
  readonly signal: AbortSignal;
  /** The answer, or throw, instead of that of the work. */
  readonly instead: () => Result;
}

/** The driver's session, and the end of its right to say anything. */
interface Inner {
  readonly session: Session;
  readonly cut: AbortController;
}

/**
 * One session of a driver from outside. What its calls throw goes on to the session's runner, which reports it. A
 * session that is held back is closed, lost until its time, and opened anew.
 */
export class ContainedSession implements Session, Suspect {
  readonly owner: CodeOwner;
  readonly #accountId: string;
  readonly #open: (port: Port) => unknown;
  readonly #port: Port;
  readonly #parts: SessionParts;
  #inner: Inner | null = null;
  #isClosed = false;

  /**
   * @param open the driver's own; called again after the session was held back
   * @throws whatever it throws, and TypeError when it opens no session
   */
  constructor(
    owner: CodeOwner & { readonly accountId: string },
    open: (port: Port) => unknown,
    port: Port,
    parts: SessionParts,
  ) {
    this.owner = owner;
    this.#accountId = owner.accountId;
    this.#open = open;
    this.#port = port;
    this.#parts = parts;
    this.#inner = this.#opened();
  }

  link: Session['link'] = (request) =>
    this.#begin('link', async (session) => await session.link(request));

  resume: Session['resume'] = () =>
    this.#begin('resume', async (session) => await session.resume());

  answer: Session['answer'] = (field, value) =>
    this.#ask('answer', async (session) => await session.answer(field, value));

  /** Without a time-out: only the driver knows the outcome of a send. */
  send: Session['send'] = (message, signal) =>
    this.#ask('send', async (session) => {
      const own = driverSignal(signal, (run) => this.#run('abort', run));
      try {
        return await session.send(message, own.signal);
      } finally {
        own.release();
      }
    });

  /** A session that was held back has nothing in memory. */
  forget(names: readonly string[]): void {
    const inner = this.#inner;
    if (inner !== null) this.#run('forget', () => inner.session.forget?.(names));
  }

  /** Absent where the driver has none. */
  get typing(): Session['typing'] {
    if (this.#inner?.session.typing === undefined) return undefined;
    return (to) => this.#ask('typing', async (session) => await session.typing?.(to));
  }

  async logOut(): ReturnType<Session['logOut']> {
    if (this.#inner === null) return 'still_linked';
    return await this.#ask('logOut', async (session) => await session.logOut());
  }

  close(): void {
    this.#isClosed = true;
    const inner = this.#inner;
    if (inner !== null) this.#run('close', () => inner.session.close());
  }

  /** The session's code has blocked the event loop: from the second time on the account is held back. */
  stalled(): void {
    const { holds } = this.#parts;
    holds.stalled(this.#accountId);
    // Its code may still be running.
    if (holds.until(this.#accountId) !== null) setImmediate(() => this.#holdBack());
  }

  #holdBack(): void {
    const inner = this.#inner;
    if (inner === null || this.#isClosed) return;
    this.#inner = null;
    inner.cut.abort();
    try {
      this.#run('close', () => inner.session.close());
    } catch (error) {
      this.#parts.faults.report({ ...this.owner, kind: 'threw', call: 'close', error });
    }
    void this.#sayHeldBack();
  }

  async #sayHeldBack(): Promise<void> {
    const { holds, heldBack: detail } = this.#parts;
    const retryAt = holds.until(this.#accountId);
    const event: DriverEvent = { type: 'state', state: 'lost', reason: 'stalled', detail, retryAt };
    // Refused when the session is over: then nobody waits for it.
    await asGateway(() => this.#port.emit(event)).catch(() => undefined);
  }

  #opened(): Inner {
    const cut = new AbortController();
    const port = driverPort(this.#port, this, this.#parts, cut.signal);
    return { session: refuseNoSession(this.#run('open', () => this.#open(port))), cut };
  }

  /** Has the driver connect, unless the account is held back. */
  async #begin(name: string, call: (session: Session) => Promise<void>): Promise<void> {
    if (this.#parts.holds.until(this.#accountId) !== null) {
      if (this.#inner === null) return await this.#sayHeldBack();
      return this.#holdBack();
    }
    this.#inner ??= this.#opened();
    await this.#call(this.#inner, name, call, {
      late: () => {
        throw new DriverHung(name);
      },
      // The outcome was emitted already.
      cut: () => undefined,
    });
  }

  /** Calls the driver for an answer. @throws DriverError when the account is held back */
  async #ask<Result>(name: string, call: (session: Session) => Promise<Result>): Promise<Result> {
    if (this.#inner === null) throw heldBack(true);
    return await this.#call(this.#inner, name, call, {
      late: () => undefined,
      cut: () => {
        throw heldBack(false);
      },
    });
  }

  #call<Result>(
    { session, cut }: Inner,
    name: string,
    call: (session: Session) => Promise<Result>,
    otherwise: { readonly late: () => void; readonly cut: () => Result },
  ): Promise<Result> {
    const { faults, hangMs } = this.#parts;
    const calling = this.#run(name, () => call(session));
    const late = (): void => {
      faults.report({ ...this.owner, kind: 'hung', call: name });
      otherwise.late();
    };
    return within(hangMs, calling, late, { signal: cut.signal, instead: otherwise.cut });
  }

  #run<Result>(name: string, run: () => Result): Result {
    return this.#parts.watch.call(this, name, () => asDriver(this.owner, run));
  }
}

function heldBack(certain: boolean): DriverError {
  const message = 'The account is held back: its driver kept the gateway from all other work.';
  return new DriverError('stalled', message, { certain, retryAfterMs: certain ? 0 : null });
}

/**
 * Settles as the work does.
 * @param late called once when the work takes longer; an error that `late` throws rejects the promise
 */
function within<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => void,
  cut: Cut<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      try {
        settle();
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => end(late), ms);
    timer.unref();
    const onCut = (): void => {
      clearTimeout(timer);
      end(() => resolve(cut.instead()));
    };
    cut.signal.addEventListener('abort', onCut, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      cut.signal.removeEventListener('abort', onCut);
    });
  });
}

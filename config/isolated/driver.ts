import { LRUCache } from 'lru-cache';
import type {
  AddressRule,
  Driver,
  DriverAccount,
  IdentifierRule,
  Port,
  Session,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { withTimeout } from '../../core/waiting.ts';
import { IsolatedSession } from './session.ts';
import { DriverThread, type ThreadEnd, type ThreadParts } from './thread.ts';
import type { DriverDeclaration } from './thread-data.ts';

export { NoAnswerInTime } from './blocking-calls.ts';

/** The first pause before a new thread; each further one is twice as long, up to the longest. Milliseconds. */
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;

/** A thread that has run for so long is followed by the first pause again, milliseconds. */
const calmMs = 600_000;

/** Time-out of a driver's `close` when the gateway stops, in a thread of its own or not, milliseconds. */
export const closeMs = 3_000;

/** How many answers of a rule are kept. */
const mostKnown = 10_000;

/** What became of the driver, for the owner of an account. */
const endings = {
  stalled: 'blocked the thread that it runs in',
  driver_failed: 'failed, and the log has the error',
} as const;

/**
 * A driver that runs in a worker thread of its own: one that blocks, leaks or throws harms its own channel alone. The
 * thread is then ended, its accounts are lost, and another is started after a pause.
 */
export class IsolatedDriver implements Driver {
  readonly capabilities: Driver['capabilities'];
  readonly identifier?: IdentifierRule;
  readonly address?: AddressRule;
  readonly credentialsOf?: NonNullable<Driver['credentialsOf']>;
  readonly #parts: ThreadParts;
  readonly #sessions = new Set<IsolatedSession>();
  #thread: DriverThread | null;
  /** The start of a new thread that is under way. Never rejects. */
  #starting: Promise<void> | null = null;
  #loss: StateEvent | null = null;
  #pauseMs = 0;
  #pause: NodeJS.Timeout | null = null;
  #isClosed = false;

  private constructor(parts: ThreadParts, thread: DriverThread, declaration: DriverDeclaration) {
    this.#parts = parts;
    this.#thread = thread;
    this.capabilities = declaration.capabilities;
    const { identifier, address } = declaration;
    if (identifier !== null) this.identifier = this.#rule('identifier', identifier);
    if (address !== null) this.address = this.#rule('address', address);
    if (declaration.hasCredentialsOf) this.credentialsOf = (...of) => this.#credentialsOf(...of);
  }

  /**
   * Starts the thread and makes the driver in it.
   * @throws Error that names the fault of the package, of its options or of the driver
   */
  static async make(parts: ThreadParts): Promise<IsolatedDriver> {
    let driver: IsolatedDriver | null = null;
    const thread = new DriverThread(parts, (end) => {
      if (driver !== null) driver.#ended(end);
    });
    driver = new IsolatedDriver(parts, thread, await thread.make(parts));
    return driver;
  }

  open(account: DriverAccount, port: Port): Session {
    const session: IsolatedSession = new IsolatedSession(account, port, {
      thread: () => this.#running(),
      lost: () => this.#loss,
      closed: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  async #credentialsOf(
    ...[contact, stored, at]: Parameters<NonNullable<Driver['credentialsOf']>>
  ): Promise<readonly string[]> {
    const thread = await this.#running();
    if (thread === null) throw new Error('the driver is being started anew');
    const name = thread.calls.lendAll({
      get: (names: readonly string[]) => stored.get(names),
      names: (prefixes: readonly string[]) => stored.names(prefixes),
    });
    try {
      // `ContainedDriver` checks the type.
      return (await thread.calls.ask('driver', 'credentialsOf', [contact, name, at])) as string[];
    } finally {
      thread.calls.withdraw(name);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#pause !== null) clearTimeout(this.#pause);
    await this.#starting;
    const thread = this.#thread;
    if (thread === null) return;
    const closing = thread.calls.ask('driver', 'close', []);
    await withTimeout(closeMs, 'close', closing).finally(() => thread.end());
  }

  /** The thread as it runs; null when there is none, for the reason that `#loss` gives. */
  async #running(): Promise<DriverThread | null> {
    await this.#starting;
    const thread = this.#thread;
    if (thread?.isEnding !== true) return thread;
    await thread.end();
    return null;
  }

  #ended({ reason, error }: ThreadEnd): void {
    if (this.#isClosed) return;
    const { faults, channel } = this.#parts;
    const kind = reason === 'stalled' ? 'stalled' : 'unhandled';
    faults.report({ kind, channel, accountId: null, call: 'thread', error });
    const ranMs = performance.now() - (this.#thread?.startedAt ?? Number.POSITIVE_INFINITY);
    this.#thread = null;
    const longerMs = Math.min(2 * this.#pauseMs, longestPauseMs);
    this.#pauseMs = ranMs > calmMs ? firstPauseMs : Math.max(longerMs, firstPauseMs);
    const detail = `The driver of ${channel} ${endings[reason]}: it is started anew, and the account tried again.`;
    const retryAt = Date.now() + this.#pauseMs;
    this.#loss = { type: 'state', state: 'lost', reason, detail, retryAt };
    this.#pause = setTimeout(() => {
      this.#starting = this.#start();
    }, this.#pauseMs);
    for (const session of this.#sessions) session.threadEnded();
  }

  async #start(): Promise<void> {
    const thread = new DriverThread(this.#parts, (end) => this.#ended(end));
    try {
      await thread.make(this.#parts);
      this.#thread = thread;
    } catch {
      // `#ended` reports why, and plans the next start.
    }
  }

  #rule(rule: 'identifier' | 'address', description: string): IdentifierRule & AddressRule {
    // A rule is pure; the accounts of a driver that is away can be asked about by what was parsed before.
    const known = new LRUCache<string, string>({ max: mostKnown });
    return {
      description,
      parse: (text) => {
        const before = known.get(text);
        if (before !== undefined) return before;
        const thread = this.#thread;
        if (thread === null) throw new Error('the driver is being started anew');
        const parsed = thread.askBlocking('driver', 'parse', [rule, text]);
        if (typeof parsed === 'string') known.set(text, parsed).set(parsed, parsed);
        // `ContainedDriver` checks the type.
        return parsed as string | null;
      },
    };
  }
}

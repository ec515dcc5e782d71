import { GatewayError } from '../../core/errors.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Access } from './connection.ts';
import { faultOf, saysServerIsGone, unavailable } from './faults.ts';
import { LastingCondition } from './lasting-condition.ts';

/** The least time from the start of one probe to the start of the next. */
const probeEveryMs = 1_000;

/**
 * The length of a closing probe in characters, that of an ordinary batch: a full disk still takes small writes for a
 * while.
 */
const probeLength = 256 * 1_024;

/** How long no statement may have passed before broken connections open the circuit, in milliseconds. */
const brokenMs = 1_000;

/** What the database does: everything, reads alone, or nothing. */
type State = 'closed' | OpenState;

/** What keeps the circuit open. */
type OpenState = 'unwritable' | 'unreachable';

/** A write whose success closes the circuit. */
interface Probe {
  readonly begunAt: number;
  readonly result: Promise<unknown>;
  settled: boolean;
}

/** Dependencies of a circuit breaker. */
interface BreakerParts {
  /** Writes so many characters of its own, past the circuit; rejects when it cannot. */
  write(length: number): Promise<unknown>;
  /** Called each time the circuit opens. */
  opened(): void;
  /** Has connections opened anew, see `DatabasePools`. */
  renew(access: Access): void;
  readonly log: GatewayLog;
}

/**
 * Circuit breaker between this process and its database. The first failure that says that the database is away, or
 * takes no writes, opens the circuit. While it is open, calls that would fail alike are refused at once, and one probe at
 * a time writes, at most one a second, until one succeeds and closes it.
 */
export class Breaker {
  readonly #parts: BreakerParts;
  readonly #conditions: Readonly<Record<OpenState, LastingCondition>>;
  #state: State = 'closed';
  #cause: unknown;
  #brokenSince: number | null = null;
  #probe: Probe | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: BreakerParts) {
    this.#parts = parts;
    const { log } = parts;
    this.#conditions = {
      unwritable: new LastingCondition(log, {
        begins: 'the database takes no writes: they are refused until it does',
        goesOn: 'the database still takes no writes, for another reason',
        ends: 'the database takes writes again',
      }),
      unreachable: new LastingCondition(log, {
        begins: 'the database does not answer: requests are refused until it does',
        goesOn: 'the database still cannot be used, for another reason',
        ends: 'the database answers again',
      }),
    };
  }

  /** Whether a read or a write may pass. */
  allows(access: Access): boolean {
    return this.#state === 'closed' || (this.#state === 'unwritable' && access === 'read');
  }

  /** The refusal of a read or a write; null where it may pass. */
  refusal(access: Access): GatewayError | null {
    return this.allows(access) ? null : this.unavailable(this.#cause);
  }

  /** The refusal for a caller whose failure `recordFailure` has taken. */
  unavailable(cause: unknown): GatewayError {
    const isOpen = this.#state !== 'closed';
    if (isOpen) this.#conditions[this.#state as OpenState].meet();
    return unavailable(cause, { reported: isOpen });
  }

  /** Records a failure, which may open the circuit. */
  recordFailure(error: unknown): void {
    const fault = faultOf(error);
    if (fault === 'unwritable') {
      // A primary that became a replica keeps its connections, while its address leads to the next primary.
      this.#parts.renew('write');
      this.#open('unwritable', error);
    } else if (saysServerIsGone(error)) this.#open('unreachable', error);
    else if (fault === 'connection') {
      const now = performance.now();
      this.#brokenSince ??= now;
      if (now - this.#brokenSince >= brokenMs) this.#open('unreachable', error);
    }
  }

  /** Records a statement that passed. */
  recordSuccess(): void {
    this.#brokenSince = null;
  }

  /** Writes, and closes the circuit on success. Callers within a second of the last probe share its result. */
  probe(): Promise<unknown> {
    const last = this.#probe;
    const now = performance.now();
    if (last !== null && (!last.settled || now - last.begunAt < probeEveryMs)) return last.result;
    const result = this.#parts.write(this.#state === 'closed' ? 0 : probeLength);
    const probe: Probe = { begunAt: now, result, settled: false };
    this.#probe = probe;
    result
      .then(
        () => this.#close(),
        () => undefined,
      )
      .then(() => {
        probe.settled = true;
      });
    return result;
  }

  /** Ends the probes; what is open stays so. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #open(state: OpenState, error: unknown): void {
    this.#cause = error;
    if (this.#state === state) return;
    const wasClosed = this.#state === 'closed';
    if (!wasClosed) this.#endCondition();
    this.#state = state;
    this.#conditions[state].begin(error);
    if (!wasClosed || this.#stopped) return;
    this.#parts.opened();
    // Not the result of a probe from before.
    if (this.#probe?.settled) this.#probe = null;
    this.#probeUntilClosed();
  }

  #probeUntilClosed(): void {
    this.probe()
      .catch((error: unknown) => this.#stayOpen(error))
      .then(() => {
        if (this.#state === 'closed' || this.#stopped) return;
        this.#timer = setTimeout(() => this.#probeUntilClosed(), probeEveryMs).unref();
      });
  }

  /** Takes the failure of a probe as what keeps the circuit open by now. */
  #stayOpen(error: unknown): void {
    if (this.#state === 'closed') return;
    this.#cause = error instanceof GatewayError ? (error.cause ?? error) : error;
    this.#conditions[this.#state].goOn(this.#cause);
  }

  #close(): void {
    // If writes go to another server by now, reads from the former one would lag behind them.
    if (this.#state === 'unwritable') this.#parts.renew('read');
    if (this.#state !== 'closed') this.#endCondition();
    this.#state = 'closed';
    this.#cause = undefined;
    this.#brokenSince = null;
  }

  #endCondition(): void {
    this.#conditions.unwritable.end();
    this.#conditions.unreachable.end();
  }
}

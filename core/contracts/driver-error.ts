/** Marks the errors of every copy of this module: a driver package may have one of its own. */
const mark = Symbol.for('messaging-gateway.DriverError');

/** Who waits before a message is sent again. */
export type Concern = 'message' | 'contact' | 'account';

/** Why a send, or an answer, did not work out. */
export class DriverError extends Error {
  /** Also true for errors of another copy of this module. */
  static override [Symbol.hasInstance](value: unknown): value is DriverError {
    return typeof value === 'object' && value !== null && mark in value;
  }
  /** Stable, lower case with underscores; the first word of the message's `error`. */
  readonly code: string;
  /** True when the network surely did not take the message. */
  readonly certain: boolean;
  /**
   * Not null: the pause before the next try, milliseconds; the message keeps its queue position. 0: until the session is
   * ready again, and a moment at least. Above 0 the pause lasts its time, through reconnects too.
   */
  readonly retryAfterMs: number | null;
  /**
   * Who has to wait when the message is to be sent again: its contact, or the account with all that it sends. `message`
   * where nobody has.
   */
  readonly concerns: Concern;
  readonly [mark] = true;
  constructor(
    code: string,
    message: string,
    options: {
      certain: boolean;
      retryAfterMs?: number | null;
      /** Default: `account`, or `message` when it is final. */
      concerns?: Concern;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = 'DriverError';
    this.code = code;
    this.certain = options.certain;
    this.retryAfterMs = options.retryAfterMs ?? null;
    const isFinal = this.certain && this.retryAfterMs === null;
    this.concerns = options.concerns ?? (isFinal ? 'message' : 'account');
  }
}

/** The session is not connected: nothing was sent, and nothing can be for now. */
export function notConnected(cause?: unknown): DriverError {
  return new DriverError('not_connected', 'the session is not connected', {
    certain: true,
    retryAfterMs: 0,
    cause,
  });
}

import { causesOf } from '../../core/causes.ts';
import { DriverError } from '../../core/contracts/driver.ts';
import { asError } from '../../core/error-code.ts';
import { GatewayError } from '../../core/errors.ts';

/** A call on its way to another thread. */
export interface Call {
  /** 0: nobody waits for an answer. */
  readonly id: number;
  readonly to: string;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Null: the call has none. */
  readonly signal: 'open' | 'aborted' | null;
  /** Answered at once, to a thread that does nothing else meanwhile. */
  readonly blocking: boolean;
}

/** An answer on its way back. */
export interface ThreadAnswer {
  readonly answers: number;
  readonly value?: unknown;
  readonly error?: SentError;
}

/** Whatever crosses between two threads. */
export type ThreadMessage = Call | ThreadAnswer | { readonly aborts: number };

/** An error on its way to another thread: a structured clone would lose its class and its code. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Why it came about, for the log; null: nothing is known. */
  readonly because: string | null;
  /** What a `DriverError` says beside its sentence. */
  readonly driver: Pick<DriverError, 'code' | 'certain' | 'retryAfterMs' | 'concerns'> | null;
  /** What the gateway's own refusal says beside its sentence: a driver may let it through. */
  readonly gateway: Pick<GatewayError, 'code' | 'status'> | null;
}

/** Takes apart whatever was thrown. Pure. */
export function sentError(thrown: unknown): SentError {
  const error = asError(thrown);
  const { name, message, stack } = error;
  const said = { name, message, stack, because: causesOf(error), driver: null, gateway: null };
  if (error instanceof GatewayError) {
    const { code, status } = error;
    return { ...said, gateway: { code, status } };
  }
  if (!(error instanceof DriverError)) return said;
  const { code, certain, retryAfterMs, concerns } = error;
  return { ...said, driver: { code, certain, retryAfterMs, concerns } };
}

/** The error as its own thread would have it. Pure. */
export function receivedError({ name, message, stack, ...sent }: SentError): Error {
  return Object.assign(classedError(message, sent), { name, stack });
}

function classedError(
  message: string,
  { because, driver, gateway }: Pick<SentError, 'because' | 'driver' | 'gateway'>,
): Error {
  const cause = because ?? undefined;
  if (driver !== null) return new DriverError(driver.code, message, { ...driver, cause });
  if (gateway !== null) return new GatewayError({ ...gateway, text: message }, { cause });
  return new Error(message, { cause });
}

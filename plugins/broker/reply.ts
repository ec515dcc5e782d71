import { causesOf } from '../../core/causes.ts';
import type { RequestHandler } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import { type ErrorCode, type ErrorDetail, errorTable, GatewayError } from '../../core/errors.ts';
import type { GatewayLog } from '../../core/log.ts';

/** What of a refusal crosses the broker. */
interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  readonly retryAfterS?: number;
  /** What caused it, for the log of the asker. */
  readonly because?: string;
}

/** A request as it has arrived. */
export interface AskedRequest {
  readonly subject: string;
  /** The body, as JSON text. */
  readonly text: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer to a request as it crosses the broker: JSON text, either a body or a refusal. */
export class Reply {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The answer of the handler of a request. Never rejects. */
  static async to(
    { subject, text, signal }: AskedRequest,
    handler: RequestHandler,
    log: GatewayLog,
  ): Promise<Reply> {
    try {
      const body = await handler(JSON.parse(text) as Json, { signal });
      return new Reply(JSON.stringify({ body }));
    } catch (error) {
      return Reply.#failure(error, subject, log);
    }
  }

  /** A GatewayError stays what it is; anything else is logged here and reaches the asker as `internal_error`. */
  static #failure(error: unknown, subject: string, log: GatewayLog): Reply {
    if (!(error instanceof GatewayError)) log.error({ err: error, subject }, 'a request failed');
    const { code, message, details, retryAfterS } =
      error instanceof GatewayError ? error : new GatewayError('internal_error');
    const because = causesOf(error);
    const refusal: Refusal = {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
      ...(because === null ? {} : { because }),
    };
    return new Reply(JSON.stringify({ refusal }));
  }

  get text(): string {
    return this.#text;
  }

  /** Settles the asker's promise. */
  deliver(resolve: (body: Json) => void, reject: (error: Error) => void): void {
    // Both ends are this class, in processes of the same program.
    const answer = JSON.parse(this.#text) as { body?: Json; refusal?: Refusal };
    if (answer.refusal === undefined) resolve(answer.body ?? null);
    else reject(gatewayError(answer.refusal));
  }
}

function gatewayError(refusal: Refusal): GatewayError {
  const { code, message, details, retryAfterS, because } = refusal;
  return new GatewayError(isErrorCode(code) ? code : 'internal_error', {
    message,
    cause: because,
    ...(details === undefined ? {} : { details: details as readonly ErrorDetail[] }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import type { AnyOperation } from '../../core/operation.ts';
import type { Refusal } from '../../core/refusal.ts';

/** The parts of a request to an operation as values, where a REST client writes them as text. */
export interface RequestParts {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  /** By name in lower case; those that the operation declares. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Undefined for none. */
  readonly body: unknown;
  /** The trace that it belongs to; that of the HTTP request where absent. */
  readonly traceparent?: string | null;
}

/** An operation that a person may have to confirm. */
export type QuestionedOperation = AnyOperation & Required<Pick<AnyOperation, 'question'>>;

/** What a person is asked about a call. */
export interface PersonsQuestion {
  readonly text: string;
  /** The account that the text names, where the operation says so. */
  readonly accountId?: string;
}

/** A successful answer as the operation's route gives it. */
export interface ServedAnswer {
  readonly status: number;
  /** JSON, byte for byte what a REST client reads. */
  readonly body: string;
}

/**
 * What the routes of the API do with a request, for requests that come another way: the same check of the
 * key and its rate, the same validation, handler, serialization and shape of refusals. In the container as
 * `requestHandling`; for the `mcp` plugin.
 */
export interface RequestHandling {
  /**
   * Finds out who calls by the request's key headers and sets `request.caller`.
   * @throws GatewayError `unauthorized`, `unavailable`, and `rate_limited` after many wrong keys
   */
  identify(request: FastifyRequest): Promise<Caller>;
  /**
   * The caller of a request whose body was read: identified again where it took long, as the key may have been revoked.
   * @throws GatewayError as `identify`
   */
  arrived(request: FastifyRequest): Promise<Caller | null>;
  /**
   * Parses the body of a request that carries calls, as a route does. NUL, half surrogate pairs, `__proto__` and deep
   * nesting pass: `serve` refuses these.
   * @throws GatewayError `unsupported_media_type`, or `invalid_request` for what is no JSON or could be read in two ways
   */
  parseBody(request: FastifyRequest, bytes: Buffer): unknown;
  /**
   * Takes one request from the rate of the caller's key. To be called once for each call of an operation.
   * @param operation null for a request to none
   * @param cost for how many requests it counts; default: 1
   * @throws GatewayError `rate_limited`, `not_found` where the operation is not there for the caller,
   *   and `scope_missing`
   */
  admit(caller: Caller, operation: AnyOperation | null, cost?: number): void;
  /**
   * Validates the parts and runs the operation's handler. The call ends early when the client of `reply`
   * goes away and when the gateway stops.
   * @param reply of the HTTP request that carries the call; nothing is sent on it
   * @param confirmed the question of this very call, to which a person has said yes; without an account where it was done before
   * @throws GatewayError to refuse; details begin with `path/`, `query/` or `body` as those of REST do
   */
  serve(
    operation: AnyOperation,
    parts: RequestParts,
    reply: FastifyReply,
    confirmed?: Pick<PersonsQuestion, 'accountId'>,
  ): Promise<ServedAnswer>;
  /**
   * Validates the parts and answers what a person is to be asked before the operation is run with them; null where it
   * would only answer what an earlier call was answered.
   * @throws GatewayError where the call would be refused, as `serve` does
   */
  question(
    operation: QuestionedOperation,
    parts: RequestParts,
    reply: FastifyReply,
  ): Promise<PersonsQuestion | null>;
  /**
   * Whatever was thrown by the other functions as the route would answer it; ours is logged.
   * @param operation null for a request to none
   * @param traceparent as `RequestParts` has it
   */
  refuse(
    operation: AnyOperation | null,
    error: unknown,
    request: FastifyRequest,
    traceparent?: string | null,
  ): Refusal;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly requestHandling: RequestHandling;
  }
}

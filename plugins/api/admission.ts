import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Authenticator, Caller } from '../../core/contracts/caller.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import { type ErrorCode, GatewayError } from '../../core/errors.ts';
import type { AnyOperation, Credential } from '../../core/operation.ts';
import { scopeRefusal } from '../../core/scopes.ts';
import { RateLimiter } from './rate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the caller was found, by the clock that only grows; set together with `caller`. */
    admittedAt: number;
  }
}

/** Dependencies of admission. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  /** Per key; 0 is off. */
  readonly requestsPerS: number;
  /** Per address; 0 is off. */
  readonly wrongKeysPerS: number;
}

/** From so many milliseconds on a request has taken its time to arrive: nearly all are there at once. */
const slowArrivalMs = 100;

/** Wrong keys that one address may try at once after a pause, in those of a second. */
const wrongKeysBurst = 5;

/** Admission of a request to an operation, before anything of its body is read: key, mode, rate. One per gateway. */
export class Admission {
  readonly #authenticator: Authenticator;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter | null;
  readonly #wrongKeys: RateLimiter | null;

  constructor({ authenticator, clock, requestsPerS, wrongKeysPerS }: AdmissionOptions) {
    this.#authenticator = authenticator;
    this.#clock = clock;
    this.#limiter = requestsPerS > 0 ? new RateLimiter(requestsPerS) : null;
    this.#wrongKeys =
      wrongKeysPerS > 0 ? new RateLimiter(wrongKeysPerS, wrongKeysPerS * wrongKeysBurst) : null;
  }

  /** The caller. As `RequestHandling.identify` promises. */
  async identify(request: FastifyRequest): Promise<Caller> {
    const { headers, rawHeaders } = request.raw;
    const key = presentedKey(headers, rawHeaders);
    if (key === null) throw new GatewayError('unauthorized');
    const caller = await this.#authenticator.authenticate(key);
    if (caller === null) throw this.#refusalOfWrong(request.ip, 'unauthorized');
    return this.#found(caller, request);
  }

  /** The caller of an operation that asks for something else than a key. */
  async #identifyBy({ header, refusal, caller }: Credential, request: FastifyRequest) {
    const value = request.headers[header];
    if (typeof value !== 'string' || value === '') throw new GatewayError(refusal);
    const found = await caller(value);
    if (found === null) throw this.#refusalOfWrong(request.ip, refusal);
    return this.#found(found, request);
  }

  #found(caller: Caller, request: FastifyRequest): Caller {
    request.caller = caller;
    request.admittedAt = this.#clock.monotonic();
    return caller;
  }

  /** The caller of a request that has arrived whole. As `RequestHandling.arrived` promises. */
  async arrived(request: FastifyRequest): Promise<Caller | null> {
    const tookMs = this.#clock.monotonic() - request.admittedAt;
    return tookMs < slowArrivalMs ? request.caller : await this.#callerOf(request);
  }

  #callerOf(request: FastifyRequest): Promise<Caller> {
    const credential = request.routeOptions.config.operation?.credential;
    if (credential === undefined) return this.identify(request);
    return this.#identifyBy(credential, request);
  }

  /** Refuses an operation of another mode, a key that calls too often and one without the scope. As `RequestHandling.admit` promises. */
  admit(caller: Caller, operation: AnyOperation | null, cost?: number): void {
    const mode = operation?.mode;
    if (mode !== undefined && mode !== caller.mode) throw new GatewayError('not_found');
    const retryAfterS = this.#limiter?.take(caller.keyId, this.#clock.monotonic(), cost) ?? 0;
    if (retryAfterS > 0) throw new GatewayError('rate_limited', { retryAfterS });
    const refusal = operation === null ? null : scopeRefusal(caller, operation);
    if (refusal !== null) throw refusal;
  }

  /** Only what was wrong is counted: other clients of the same address are not delayed. */
  #refusalOfWrong(address: string, code: ErrorCode): GatewayError {
    const retryAfterS = this.#wrongKeys?.take(address, this.#clock.monotonic()) ?? 0;
    if (retryAfterS === 0) return new GatewayError(code);
    return new GatewayError('rate_limited', {
      message: 'Too many wrong API keys or links came from this address.',
      retryAfterS,
    });
  }

  /** The whole admission of a request to a route. */
  async pass(request: FastifyRequest): Promise<void> {
    if (hasEmptyPart(request.params as object)) throw new GatewayError('not_found');
    const caller = await this.#callerOf(request);
    this.admit(caller, request.routeOptions.config.operation ?? null);
  }
}

/** The router takes `/messages/` for `/messages/{id}`: it is a path that does not exist. */
function hasEmptyPart(params: object): boolean {
  for (const value of Object.values(params)) if (value === '') return true;
  return false;
}

const bearer = /^bearer +(\S+) *$/i;

/**
 * The API key that a request carries: `X-API-Key`, or `Authorization: Bearer`, or several of them when they are the
 * same. Null for none and for keys that differ. An Authorization of another scheme is not a key.
 * @param rawHeaders names and values in turn, as Node gives them: `headers` joins several `X-API-Key`, and holds the
 * first Authorization only
 */
function presentedKey(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): string | null {
  const given = headers['x-api-key'];
  const own = typeof given === 'string' ? given : '';
  // No key has a comma: Node joins the values of several headers with it.
  const first = own.split(',', 1)[0] ?? '';
  if (first !== own && hasOther(rawHeaders, 'x-api-key', first)) return null;
  const ownKey = first === '' ? null : first;
  const { authorization } = headers;
  if (authorization === undefined) return ownKey;
  if (hasOther(rawHeaders, 'authorization', authorization)) return null;
  const bearerKey = bearer.exec(authorization)?.[1] ?? null;
  if (ownKey === null || bearerKey === null) return ownKey ?? bearerKey;
  return ownKey === bearerKey ? ownKey : null;
}

/** Whether a header is there with another value than this one. @param name in lower case */
function hasOther(rawHeaders: readonly string[], name: string, value: string): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? '';
    if (given.length !== name.length || rawHeaders[index + 1] === value) continue;
    if (given.toLowerCase() === name) return true;
  }
  return false;
}

import type { FastifyRequest } from 'fastify';
import type { Authenticator, Caller } from '../../core/contracts/caller.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import { type ErrorCode, GatewayError } from '../../core/errors.ts';
import type { AnyOperation, Credential } from '../../core/operation.ts';
import { scopeRefusal } from '../../core/scopes.ts';
import { presentedKey } from './authentication.ts';
import { RateLimiter } from './rate.ts';

/** What admission needs. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  /** Per key; 0 is off. */
  readonly requestsPerS: number;
}

/** Wrong keys that one address may try, a second and at once after a pause. */
const wrongKeysPerS = 10;
const wrongKeysAtOnce = 50;

/** Admission of a request to an operation, before anything of its body is read: key, mode, rate. One per gateway. */
export class Admission {
  readonly #authenticator: Authenticator;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter | null;
  readonly #wrongKeys = new RateLimiter(wrongKeysPerS, wrongKeysAtOnce);

  constructor({ authenticator, clock, requestsPerS }: AdmissionOptions) {
    this.#authenticator = authenticator;
    this.#clock = clock;
    this.#limiter = requestsPerS > 0 ? new RateLimiter(requestsPerS) : null;
  }

  /** The caller. As `RequestHandling.identify` promises. */
  async identify(request: FastifyRequest): Promise<Caller> {
    const { headers, rawHeaders } = request.raw;
    const key = presentedKey(headers, rawHeaders);
    if (key === null) throw new GatewayError('unauthorized');
    const caller = await this.#authenticator.authenticate(key);
    if (caller === null) throw this.#refusalOfWrong(request.ip, 'unauthorized');
    request.caller = caller;
    return caller;
  }

  /** The caller of an operation that asks for something else than a key. */
  async #identifyBy({ header, refusal, caller }: Credential, request: FastifyRequest) {
    const value = request.headers[header];
    if (typeof value !== 'string' || value === '') throw new GatewayError(refusal);
    const found = await caller(value);
    if (found === null) throw this.#refusalOfWrong(request.ip, refusal);
    request.caller = found;
    return found;
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
    const retryAfterS = this.#wrongKeys.take(address, this.#clock.monotonic());
    if (retryAfterS === 0) return new GatewayError(code);
    return new GatewayError('rate_limited', {
      message: 'Too many wrong API keys or links came from this address.',
      retryAfterS,
    });
  }

  /** The whole admission of a request to a route. */
  async pass(request: FastifyRequest): Promise<void> {
    if (hasEmptyPart(request.params as object)) throw new GatewayError('not_found');
    const operation = request.routeOptions.config.operation ?? null;
    const credential = operation?.credential;
    const caller =
      credential === undefined
        ? await this.identify(request)
        : await this.#identifyBy(credential, request);
    this.admit(caller, operation);
  }
}

/** The router takes `/messages/` for `/messages/{id}`: it is a path that does not exist. */
function hasEmptyPart(params: object): boolean {
  for (const value of Object.values(params)) if (value === '') return true;
  return false;
}

import type { FastifyRequest } from 'fastify';
import type { Authenticator, Caller } from '../../core/contracts/caller.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
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
    if (caller === null) throw this.#refusalOfWrongKey(request.ip);
    request.caller = caller;
    return caller;
  }

  /** Refuses an operation of another mode, and a key that calls too often. As `RequestHandling.admit` promises. */
  admit(caller: Caller, operation: AnyOperation | null, cost?: number): void {
    const mode = operation?.mode;
    if (mode !== undefined && mode !== caller.mode) throw new GatewayError('not_found');
    const retryAfterS = this.#limiter?.take(caller.keyId, this.#clock.monotonic(), cost) ?? 0;
    if (retryAfterS > 0) throw new GatewayError('rate_limited', { retryAfterS });
  }

  /** Only wrong keys are counted: other clients of the same address are not delayed. */
  #refusalOfWrongKey(address: string): GatewayError {
    const retryAfterS = this.#wrongKeys.take(address, this.#clock.monotonic());
    if (retryAfterS === 0) return new GatewayError('unauthorized');
    return new GatewayError('rate_limited', {
      message: 'Too many wrong API keys came from this address.',
      retryAfterS,
    });
  }

  /** The whole admission of a request to a route. */
  async pass(request: FastifyRequest): Promise<void> {
    if (hasEmptyPart(request.params as object)) throw new GatewayError('not_found');
    const caller = await this.identify(request);
    this.admit(caller, request.routeOptions.config.operation ?? null);
  }
}

/** The router takes `/messages/` for `/messages/{id}`: it is a path that does not exist. */
function hasEmptyPart(params: object): boolean {
  for (const value of Object.values(params)) if (value === '') return true;
  return false;
}

import type { FastifyRequest } from 'fastify';
import type { Authenticator } from '../../core/contracts/caller.ts';
import type { Clock } from '../../core/contracts/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { presentedKey } from './authentication.ts';
import { RateLimiter } from './rate.ts';

/** What a gate needs to know. */
export interface GateOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  /** Per key; 0 is off. */
  readonly requestsPerS: number;
}

/**
 * What every request to an operation passes before anything of its body is read: who calls, is
 * the operation there for them, and does that key call too often. Sets `request.caller`.
 */
export function makeGate({ authenticator, clock, requestsPerS }: GateOptions) {
  const limiter = requestsPerS > 0 ? new RateLimiter(requestsPerS) : null;
  return async (request: FastifyRequest): Promise<void> => {
    if (hasEmptyPart(request.params as object)) throw new GatewayError('not_found');
    const { headers, rawHeaders } = request.raw;
    const key = presentedKey(headers, rawHeaders);
    const caller = key === null ? null : await authenticator.authenticate(key);
    if (caller === null) throw new GatewayError('unauthorized');
    const mode = request.routeOptions.config.operation?.mode;
    if (mode !== undefined && mode !== caller.mode) throw new GatewayError('not_found');
    request.caller = caller;
    const retryAfterS = limiter?.take(caller.keyId, clock.monotonic()) ?? 0;
    if (retryAfterS > 0) throw new GatewayError('rate_limited', { retryAfterS });
  };
}

/** The router takes `/messages/` for `/messages/{id}`: it is a path that does not exist. */
function hasEmptyPart(params: object): boolean {
  for (const value of Object.values(params)) if (value === '') return true;
  return false;
}

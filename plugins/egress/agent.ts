import { Agent } from 'undici';
import { makeConnector } from './connector.ts';
import type { EgressSettings } from './settings.ts';

/**
 * Makes the pool of guarded connections that all requests share. There is no bound to connections of one origin, as a
 * request that waits for another's would be delayed by it; callers bound what they ask for.
 */
export function makeAgent(settings: EgressSettings): Agent {
  return new Agent({
    connect: makeConnector(settings),
    pipelining: 1,
    maxHeaderSize: 16_384,
    keepAliveTimeout: settings.idleMs ?? 4_000,
    keepAliveMaxTimeout: 30_000,
    // Each request has one deadline for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

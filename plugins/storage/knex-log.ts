import type { Knex } from 'knex';
import type { GatewayLog } from '../../core/log.ts';

/** What knex would print: lost connections mostly, which whoever needed them reports as well. */
export function knexLog(log: GatewayLog): Knex.Logger {
  const debug = (message: unknown) => log.debug({ knex: message }, 'knex reports a problem');
  return { warn: debug, error: debug, deprecate: debug, debug };
}

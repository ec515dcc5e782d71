import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Count, Seconds } from './fields.ts';

/** Accounts' live links. */
export const SessionsSettings = Closed({
  capacity: Count('sessions that one process holds', 1_000, 1),
  lease_s: Seconds('for which a process owns a session or a webhook URL without renewal', 9, 2),
  logins_per_s: Type.Number({
    description: 'log-ins to the networks that one process begins at most',
    default: 20,
    minimum: 0.1,
    maximum: 1_000,
    'x-unit': '1/s',
  }),
  reconnect_max_s: Seconds('longest pause between two tries to reconnect', 300, 0.01),
  pairing_timeout_s: Seconds('after which an unfinished pairing ends', 300, 0.1),
  allow_private_proxies: Type.Boolean({
    description: 'accounts may connect through proxies whose addresses are not public',
    default: false,
  }),
  request_timeout_s: Seconds('in which the process that holds a session must answer', 10, 0.1),
});

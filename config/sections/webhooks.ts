import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Count, Hours, Seconds } from './fields.ts';

/** Deliveries to subscribers. */
export const WebhooksSettings = Closed({
  timeout_s: Seconds('for a whole delivery', 10, 0.01),
  connect_timeout_s: Seconds('to connect to the receiver', 5, 0.01),
  retry_delays_s: Type.Array(Type.Number({ minimum: 0 }), {
    description: 'pauses before the retries of a failed delivery',
    default: [60, 300, 1_800, 7_200],
    maxItems: 20,
    'x-unit': 's',
  }),
  pause_after_failures: Count('failed attempts in a row that pause a URL', 20, 1),
  pause_after_s: Seconds('for which it must have been failing', 600),
  max_subscriptions: Count('subscriptions of one tenant', 20),
  previous_secret_h: Hours('for which the previous secret signs, too, after a rotation', 24),
  concurrency: Count(
    'requests to one URL that one process has open at once; at most 2 until its first 2xx, and while its last attempt failed',
    10,
    1,
  ),
  in_flight: Count(
    'requests to all URLs that one process has open at once, half of them at most to URLs that fail or take over 1 s, and half to those of one tenant beside others',
    1_000,
    2,
  ),
  log_h: Hours(
    'for which a delivery is kept in the log, longer while it waits and its event is kept',
    168,
  ),
  allow_private_targets: Type.Boolean({
    description: 'deliver to addresses that are not public',
    default: false,
  }),
  allow_http: Type.Boolean({ description: 'deliver without TLS', default: false }),
});

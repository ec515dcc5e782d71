import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Count, Seconds } from './fields.ts';

/** Guards and rates. */
export const LimitsSettings = Closed({
  loop_guard: Closed({
    messages: Count('messages each way with one contact that refuse the next send; 0 is off', 10),
    window_s: Seconds('in which they are counted', 60, 0.1),
  }),
  opener_burst: Closed({
    openers: Count('first messages that one account may send; 0 is off', 5),
    window_s: Seconds('in which they are counted', 60, 0.1),
  }),
  safety: Closed({
    refusals: Count('refused openers of one account that restrict it; 0 is off', 10),
    window_s: Seconds('in which they are counted', 600, 0.1),
    hold_s: Seconds('how long the restriction lasts', 3_600, 0.1),
  }),
  waits: Count('long polls that one tenant may have open', 2, 1),
  event_polls: Count(
    'long polls for events that one tenant may have open, beside the others',
    5,
    1,
  ),
  requests_per_s: Type.Number({
    description: 'requests per second and key, with twice that as burst; 0 is off',
    default: 100,
    minimum: 0,
    maximum: 1_000_000,
    'x-unit': '1/s',
  }),
  wrong_keys_per_s: Type.Number({
    description:
      'wrong keys, or links, per second and address, with five times that as burst; 0 is off',
    default: 10,
    minimum: 0,
    maximum: 1_000_000,
    'x-unit': '1/s',
  }),
  body_bytes: Type.Integer({
    description: 'largest request body',
    default: 262_144,
    minimum: 1_024,
    maximum: 67_108_864,
    'x-unit': 'bytes',
  }),
});

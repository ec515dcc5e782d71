import { scale, scaled } from '../harness/scale.ts';

/** The sessions of one process. */
export const count = scaled(1_000, 20);

/** A part of an hour, and no less than so much; milliseconds. */
export const periodMs = (fullMs: number, leastMs: number) => Math.max(leastMs, fullMs * scale);

/** What differs from the defaults. */
export const settings = {
  GATEWAY_PLANS__GROWTH__ACCOUNTS_CAP: '10000',
  // With the default of 20 a thousand need 50 s.
  GATEWAY_SESSIONS__LOGINS_PER_S: '40',
};

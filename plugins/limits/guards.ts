import type { GuardSettings } from './contract.ts';

/**
 * The loop guard: two bots that reply to each other.
 * @param outbound times of the latest messages to a contact, in any order
 * @param inbound times of its latest messages
 * @returns milliseconds until the next send to it would pass, or null when it passes now
 */
export function loopGuard(
  settings: GuardSettings['loopGuard'],
  outbound: readonly number[],
  inbound: readonly number[],
  now: number,
): number | null {
  const sent = fullUntil(outbound, settings.messages, settings.windowMs, now);
  const received = fullUntil(inbound, settings.messages, settings.windowMs, now);
  return sent === null || received === null ? null : Math.min(sent, received);
}

/**
 * The opener burst: too many first messages of one account.
 * @param openers times of the account's latest accepted openers, in any order
 * @returns milliseconds until the next opener would pass, or null when it passes now
 */
export function openerBurst(
  settings: GuardSettings['openerBurst'],
  openers: readonly number[],
  now: number,
): number | null {
  return fullUntil(openers, settings.openers, settings.windowMs, now);
}

/**
 * The safety restriction: an account whose openers are refused again and again.
 * @param refusals times of the account's latest refused openers, the one just refused included
 * @returns until when the account is restricted, or null when it is not
 */
export function safetyHold(
  settings: GuardSettings['safety'],
  refusals: readonly number[],
  now: number,
): number | null {
  const full = fullUntil(refusals, settings.refusals, settings.windowMs, now) !== null;
  return full ? now + settings.holdMs : null;
}

/**
 * Since when refused openers count for the safety restriction: earlier ones are out of its window, or as many as
 * restrict the account came after them.
 * @param refusals times of the account's latest refused openers
 */
export function safetySince(
  settings: GuardSettings['safety'],
  refusals: readonly number[],
  now: number,
): number {
  const { refusals: count, windowMs } = settings;
  return now - windowMs + (fullUntil(refusals, count, windowMs, now) ?? 0);
}

/**
 * How long a sliding window stays full: until the `count`-th newest of the times leaves it. Null when it is not
 * full, or when a count of 0 turns the guard off. Times ahead of now do not count: the clock was set back since, and
 * they would fill the window until they come again.
 */
function fullUntil(
  times: readonly number[],
  count: number,
  windowMs: number,
  now: number,
): number | null {
  if (count === 0) return null;
  const newest = times.filter((at) => at > now - windowMs && at <= now).sort((a, b) => b - a);
  const leaving = newest[count - 1];
  return leaving === undefined ? null : leaving + windowMs - now;
}

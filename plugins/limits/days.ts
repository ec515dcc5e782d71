/** A UTC day in milliseconds. */
export const dayMs = 86_400_000;

/** The most days that usage is shown for, today included; older counters are deleted. */
export const mostDays = 90;

/** The UTC day of a moment, `YYYY-MM-DD`: what the usage counters count by. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Whole seconds until the next UTC midnight, rounded up, at least 1: when the daily caps begin anew. */
export function secondsToMidnight(at: number): number {
  return Math.max(1, Math.ceil((dayMs - (((at % dayMs) + dayMs) % dayMs)) / 1000));
}

/**
 * Which day of its ramp an account has reached: 1 on the day of its first connection.
 * @param dayOne the day of the first connection, null before it
 * @param rampDays the length of the ramp, 0 for none
 * @returns null when the account has no ramp, has not begun it or is past it
 */
export function rampDayOf(dayOne: string | null, rampDays: number, at: number): number | null {
  if (dayOne === null || rampDays === 0) return null;
  const day = Math.round((Date.parse(dayOf(at)) - Date.parse(dayOne)) / dayMs) + 1;
  return day > rampDays ? null : Math.max(1, day);
}

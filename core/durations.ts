/**
 * Lengths of time of the settings in whole milliseconds, to the nearest one: parts of a millisecond are refused by
 * `AbortSignal.timeout` and by the integer columns of SQLite.
 */
export const secondsMs = (seconds: number): number => Math.round(seconds * 1_000);

/** See `secondsMs`. */
export const hoursMs = (hours: number): number => Math.round(hours * 3_600_000);

/** See `secondsMs`. */
export const daysMs = (days: number): number => Math.round(days * 86_400_000);

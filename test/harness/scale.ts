/** The share of its full size at which a load or fault test runs; `npm run test:faults` sets 1. */
export const scale = readScale(process.env.TEST_SCALE);

/**
 * Answers `count` at the scale of this run, rounded up, and never less than `minimum`.
 * Take it for the number of messages, kills or clients, never for a time-out.
 */
export function scaled(count: number, minimum = 1): number {
  return Math.max(minimum, Math.ceil(count * scale));
}

function readScale(text: string | undefined): number {
  const value = text === undefined || text === '' ? 0.05 : Number(text);
  if (!Number.isFinite(value) || value <= 0) {
    throw new Error(`TEST_SCALE is "${text}": set it to a number above 0, such as 0.05 or 1.`);
  }
  return value;
}

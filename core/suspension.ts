import type { Clock } from './contracts/clock.ts';

/** By how much the wall clock may run ahead of the monotonic one before the machine counts as suspended, milliseconds. */
const suspendedMs = 1_000;

/** The two clocks at one moment. */
export interface ClockReading {
  readonly wall: number;
  readonly monotonic: number;
}

/** Reads both clocks. */
export function readClocks(clock: Clock): ClockReading {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

/**
 * Whether the machine was suspended between two moments: the monotonic clock does not count that, the wall clock does.
 * True as well when the wall clock was set forward. Pure.
 */
export function wasSuspended(from: ClockReading, to: ClockReading): boolean {
  return to.wall - from.wall - (to.monotonic - from.monotonic) > suspendedMs;
}

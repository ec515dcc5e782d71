import { clockNow } from '../bench/clock.ts';

/** A log-in of a number, as its network saw it. */
export interface LogIn {
  readonly phone: string;
  /** By `clockNow`. */
  readonly at: number;
  /** How many connections of the number were logged in already. */
  readonly beside: number;
}

/** The log-ins that a network has seen, the oldest first. */
export class LogIns {
  readonly #seen: LogIn[] = [];
  readonly #counts = new Map<string, number>();

  note(phone: string, beside: number): void {
    this.#seen.push({ phone, at: clockNow(), beside });
    this.#counts.set(phone, (this.#counts.get(phone) ?? 0) + 1);
  }

  /** How often each number has logged in. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Those since a moment, by `clockNow`. */
  since(at: number): readonly LogIn[] {
    return this.#seen.filter((one) => one.at >= at);
  }
}

/** The most log-ins that any second has, wherever it begins. Pure. */
export function busiestSecond(logIns: readonly Pick<LogIn, 'at'>[]): number {
  const times = logIns.map(({ at }) => at).sort((one, other) => one - other);
  let first = 0;
  return times.reduce((most, at, place) => {
    while ((times[first] ?? at) <= at - 1_000) first += 1;
    return Math.max(most, place - first + 1);
  }, 0);
}

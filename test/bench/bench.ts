import type { Teardown } from '../harness/processes.ts';

/** What a figure should reach: of its ratio to the floor where it has one, else of the figure itself. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One thing that was measured, on both sides in turns; the nth of each belong to one round. */
export interface Figure {
  /** Such as `requests a second, 64 clients`. */
  readonly name: string;
  readonly unit: string;
  readonly gateway: readonly number[];
  /** Null where nothing is compared. */
  readonly floor: readonly number[] | null;
  /** Null for what is stated only. */
  readonly goal: Goal | null;
}

/** What a bench is run with. What it starts it has torn down by `teardown`, the last first. */
export interface BenchRun extends Teardown {
  /** How often both sides are measured. */
  readonly rounds: number;
  /** Answers so many of what a full bench does; fewer in a trial. */
  count(full: number): number;
  /** Says how far it is. */
  say(line: string): void;
}

/** One bench: `npm run bench -- NAME`. */
export interface Bench {
  readonly name: string;
  /** What is measured, against which floor, in a sentence each. */
  readonly about: string;
  run(run: BenchRun): Promise<readonly Figure[]>;
}

/** What a side found in one turn, by name. */
export type Found<Name extends string> = Readonly<Record<Name, number>>;

/** What both sides found, round by round. */
export interface Turns<Name extends string> {
  figure(name: Name, told: { name: string; unit: string; goal: Goal | null }): Figure;
}

/**
 * How many turns of each side do not count. V8 compiles a server's code for its first tens of thousands of requests, the
 * longer the more code there is: what is measured is a server that has been up for a while.
 */
export const warmUps = 4;

/**
 * Measures both sides in turns: first some for nothing, so that both are warm; then `rounds` times, the one
 * that begins alternating, so that what else the machine does meets both alike.
 */
export async function inTurns<Name extends string>(
  run: BenchRun,
  gateway: () => Promise<Found<Name>>,
  floor: () => Promise<Found<Name>>,
): Promise<Turns<Name>> {
  for (let turn = 0; turn < warmUps; turn += 1) {
    await floor();
    await gateway();
  }
  return await inColdTurns(run, gateway, floor);
}

/** The same without warming up: for turns that start a process of their own. */
export async function inColdTurns<Name extends string>(
  { rounds, say }: Pick<BenchRun, 'rounds' | 'say'>,
  gateway: () => Promise<Found<Name>>,
  floor: () => Promise<Found<Name>>,
): Promise<Turns<Name>> {
  const found: { gateway: Found<Name>; floor: Found<Name> }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const both =
      round % 2 === 0
        ? { floor: await floor(), gateway: await gateway() }
        : { gateway: await gateway(), floor: await floor() };
    say(`round ${round + 1}: gateway ${shown(both.gateway)}; floor ${shown(both.floor)}`);
    found.push(both);
  }
  return {
    figure: (name, told) => ({
      ...told,
      gateway: found.map((both) => both.gateway[name]),
      floor: found.map((both) => both.floor[name]),
    }),
  };
}

function shown(found: Found<string>): string {
  const parts = Object.entries(found).map(
    ([name, value]) => `${name} ${Number(value.toPrecision(4))}`,
  );
  return parts.join(', ');
}

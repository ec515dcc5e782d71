import type { Teardown } from '../harness/processes.ts';
import { median } from './statistics.ts';

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
  /** How many rounds are measured. */
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
export const warmUps = 8;

/**
 * How often each side has its turn in a round. Such a machine is for seconds on end half as fast as before, whatever
 * runs on it: turns are short, so that this meets both sides alike.
 */
export const turnsOfRound = 4;

/** One turn of a side. */
type Turn<Name extends string> = () => Promise<Found<Name>>;

/**
 * Measures both sides in turns: first some for nothing, so that both are warm; then `rounds` of
 * `turnsOfRound` each, the one that begins alternating. What a round found is the median of its turns.
 */
export async function inTurns<Name extends string>(
  run: BenchRun,
  gateway: Turn<Name>,
  floor: Turn<Name>,
): Promise<Turns<Name>> {
  for (let turn = 0; turn < warmUps; turn += 1) {
    await floor();
    await gateway();
  }
  return await inColdTurns(run, gateway, floor, turnsOfRound);
}

/** The same without warming up: for turns that start a process of their own, by default one a round. */
export async function inColdTurns<Name extends string>(
  { rounds, say }: Pick<BenchRun, 'rounds' | 'say'>,
  gateway: Turn<Name>,
  floor: Turn<Name>,
  turns = 1,
): Promise<Turns<Name>> {
  const found: { gateway: Found<Name>[]; floor: Found<Name>[] }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ofRound = { gateway: [] as Found<Name>[], floor: [] as Found<Name>[] };
    for (let turn = 0; turn < turns; turn += 1) {
      const isFloorFirst = (round + turn) % 2 === 0;
      if (isFloorFirst) ofRound.floor.push(await floor());
      ofRound.gateway.push(await gateway());
      if (!isFloorFirst) ofRound.floor.push(await floor());
    }
    say(`round ${round + 1}: gateway ${shown(ofRound.gateway)}; floor ${shown(ofRound.floor)}`);
    found.push(ofRound);
  }
  return {
    figure: (name, told) => ({
      ...told,
      gateway: found.map((ofRound) => medianOf(ofRound.gateway, name)),
      floor: found.map((ofRound) => medianOf(ofRound.floor, name)),
    }),
  };
}

function medianOf<Name extends string>(turns: readonly Found<Name>[], name: Name): number {
  return median(turns.map((turn) => turn[name]));
}

function shown(turns: readonly Found<string>[]): string {
  const parts = Object.keys(turns[0] ?? {}).map(
    (name) => `${name} ${Number(medianOf(turns, name).toPrecision(4))}`,
  );
  return parts.join(', ');
}

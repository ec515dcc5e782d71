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

/** Both sides of a measurement, which have their turns one after the other, and what they found, round by round. */
export class Turns<Name extends string> {
  readonly #say: BenchRun['say'];
  readonly #gateway: Turn<Name>;
  readonly #floor: Turn<Name>;
  readonly #found: Record<'gateway' | 'floor', readonly Found<Name>[]>[] = [];

  constructor({ say }: Pick<BenchRun, 'say'>, gateway: Turn<Name>, floor: Turn<Name>) {
    this.#say = say;
    this.#gateway = gateway;
    this.#floor = floor;
  }

  /** Lets both have so many turns that do not count. */
  async warmUp(turns = warmUps): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) {
      await this.#floor();
      await this.#gateway();
    }
  }

  /** Lets both have so many turns, the one that begins alternating. What they find of it is the median. */
  async round(turns: number): Promise<void> {
    const gateway: Found<Name>[] = [];
    const floor: Found<Name>[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const isFloorFirst = (this.#found.length + turn) % 2 === 0;
      if (isFloorFirst) floor.push(await this.#floor());
      gateway.push(await this.#gateway());
      if (!isFloorFirst) floor.push(await this.#floor());
    }
    this.#found.push({ gateway, floor });
    this.#say(`round ${this.#found.length}: gateway ${shown(gateway)}; floor ${shown(floor)}`);
  }

  /** What both sides found of one thing. */
  figure(
    name: Name,
    told: { readonly name: string; readonly unit: string; readonly goal: Goal | null },
  ): Figure {
    return {
      ...told,
      gateway: this.#found.map((round) => medianOf(round.gateway, name)),
      floor: this.#found.map((round) => medianOf(round.floor, name)),
    };
  }
}

/** Measures both sides: first some turns for nothing, so that both are warm; then `rounds` of `turnsOfRound` each. */
export async function inTurns<Name extends string>(
  run: BenchRun,
  gateway: Turn<Name>,
  floor: Turn<Name>,
): Promise<Turns<Name>> {
  const turns = new Turns(run, gateway, floor);
  await turns.warmUp();
  for (let round = 0; round < run.rounds; round += 1) await turns.round(turnsOfRound);
  return turns;
}

/** The same without warming up: for turns that start a process of their own, one a round. */
export async function inColdTurns<Name extends string>(
  run: Pick<BenchRun, 'rounds' | 'say'>,
  gateway: Turn<Name>,
  floor: Turn<Name>,
): Promise<Turns<Name>> {
  const turns = new Turns(run, gateway, floor);
  for (let round = 0; round < run.rounds; round += 1) await turns.round(1);
  return turns;
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

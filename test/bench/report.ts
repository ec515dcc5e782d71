import type { Figure, Goal } from './bench.ts';
import { median, spread } from './statistics.ts';

/** A figure with what the report says of it. */
export interface Row {
  readonly bench: string;
  readonly figure: string;
  readonly unit: string;
  /** Medians over the rounds. */
  readonly gateway: number;
  readonly floor: number | null;
  /** Gateway by floor, round by round: the median, and the least and the largest. */
  readonly ratio: { readonly median: number; readonly spread: readonly [number, number] } | null;
  readonly goal: Goal | null;
  /** Null where there is no goal. */
  readonly reached: boolean | null;
  readonly rounds: Pick<Figure, 'gateway' | 'floor'>;
}

/** What the report says of a figure. Pure. */
export function rowOf(bench: string, figure: Figure): Row {
  const { gateway, floor, goal } = figure;
  const ratios = floor?.map((value, round) => (gateway[round] ?? Number.NaN) / value) ?? null;
  const judged = median(ratios ?? gateway);
  return {
    bench,
    figure: figure.name,
    unit: figure.unit,
    gateway: median(gateway),
    floor: floor === null ? null : median(floor),
    ratio: ratios === null ? null : { median: median(ratios), spread: spread(ratios) },
    goal,
    reached: goal === null ? null : reaches(judged, goal),
    rounds: { gateway, floor },
  };
}

function reaches(value: number, goal: Goal): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

const titles = ['bench', 'figure', 'gateway', 'floor', 'ratio', 'spread', 'goal', ''];

/** The rows as a table in Markdown, columns aligned. Pure. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.bench,
    row.figure,
    `${short(row.gateway)} ${row.unit}`,
    row.floor === null ? '–' : `${short(row.floor)} ${row.unit}`,
    row.ratio === null ? '–' : short(row.ratio.median),
    spreadOf(row),
    goalOf(row.goal),
    row.reached === null ? '' : row.reached ? 'reached' : 'MISSED',
  ]);
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const line = (parts: readonly string[]) =>
    `| ${parts.map((part, column) => part.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(titles), rule, ...cells.map(line)].join('\n');
}

function spreadOf({ ratio, rounds }: Row): string {
  const [least, most] = ratio?.spread ?? spread(rounds.gateway);
  return `${short(least)} to ${short(most)}`;
}

function goalOf(goal: Goal | null): string {
  if (goal === null) return '–';
  return 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`;
}

function short(value: number): string {
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

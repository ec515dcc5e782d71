import type { Test } from 'tap';

/** What was measured of a network's sessions. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** Such as `KB`; empty for a ratio or a count. */
  readonly unit: string;
  /** Null: stated only. */
  readonly goal: { readonly atMost: number } | { readonly atLeast: number } | null;
}

/** The figures as lines of a Markdown table. Pure. */
export function tableOf(figures: readonly Figure[]): readonly string[] {
  const rows = figures.map((figure) => {
    const { name, value, unit, goal } = figure;
    const bound = goal === null ? '–' : 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`;
    const outcome = goal === null ? '' : isReached(figure) ? 'reached' : 'missed';
    return `| ${name} | ${Number(value.toPrecision(3))} ${unit} | ${bound} | ${outcome} |`;
  });
  return ['| figure | measured | goal | |', '|---|---|---|---|', ...rows];
}

/** Shows the figures of a network as a table and checks that each goal was reached. */
export function showFigures(t: Test, figures: readonly Figure[]): void {
  for (const line of tableOf(figures)) t.comment(line);
  for (const figure of figures) t.ok(isReached(figure), `${figure.name}: ${figure.value}`);
}

function isReached({ value, goal }: Figure): boolean {
  if (goal === null) return true;
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

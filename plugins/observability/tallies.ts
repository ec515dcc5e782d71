import type { Tally } from '../../core/contracts/metrics.ts';
import type { MetricEntry } from '../../core/metrics/entry.ts';

type LabelValues = Readonly<Record<string, string>>;

/** Numbers of a counter, one for each combination of labels: adding to one is an addition and nothing else. */
export class Tallies {
  readonly #all = new Map<string, LabelledTally>();

  of(labels: LabelValues): Tally {
    const key = Object.values(labels).join('\n');
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const made = new LabelledTally(labels);
    this.#all.set(key, made);
    return made;
  }

  all(): Iterable<LabelledTally> {
    return this.#all.values();
  }
}

class LabelledTally implements Tally {
  readonly labels: LabelValues;
  value = 0;

  constructor(labels: LabelValues) {
    this.labels = { ...labels };
  }

  add(by = 1): void {
    this.value += by;
  }
}

/** Every combination of the values of labels; none where those of one are not known beforehand. Pure. */
export function combinations(labels: MetricEntry['labels']): readonly LabelValues[] {
  let found: readonly LabelValues[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return [];
    found = found.flatMap((some) => values.map((value) => ({ ...some, [label]: value })));
  }
  return found;
}

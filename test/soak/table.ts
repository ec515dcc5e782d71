import type { Try } from '../harness/traffic.ts';
import type { Sample } from './samples.ts';

/** One message that was read: when it was accepted, on the monotonic clock, and after how long; milliseconds. */
export interface ReadMessage {
  readonly at: number;
  readonly tookMs: number;
}

/** One stretch of the traffic, between two kills. */
export interface Stretch {
  readonly sends: number;
  readonly received: number;
  /** From request to 202. */
  readonly acceptMedian: number;
  readonly acceptP99: number;
  /** From 202 to read. */
  readonly readMedian: number;
  readonly readP99: number;
  readonly memory: number;
  readonly descriptors: number;
  /** The database's size divided by the messages stored until then, in bytes. */
  readonly bytesEach: number;
  /** The longest that the embedded database's log was, in megabytes. */
  readonly log: number;
}

/** What a traffic and its samples showed. */
export interface Observed {
  readonly tries: readonly Try[];
  readonly reads: readonly ReadMessage[];
  readonly samples: readonly Sample[];
  /** Where a stretch ends, in order; the first begins with the traffic. */
  readonly ends: readonly number[];
}

/** Parts what was observed into stretches. Pure. */
export function stretchesOf({ tries, reads, samples, ends }: Observed): readonly Stretch[] {
  const good = tries.filter(({ outcome }) => outcome === '202' || outcome === '200');
  return ends.map((end, place) => {
    const begin = ends[place - 1] ?? 0;
    const within = <Item extends { readonly at: number }>(items: readonly Item[]) =>
      items.filter(({ at }) => at >= begin && at < end);
    const sends = within(good.filter(({ what }) => what === 'send'));
    const seen = within(samples);
    const until = (what: Try['what']) =>
      good.filter((one) => one.what === what && one.at < end).length;
    const largest = (of: (sample: Sample) => number) => Math.max(0, ...seen.map(of));
    const accepts = sends.map(({ tookMs }) => tookMs);
    const delays = within(reads).map(({ tookMs }) => tookMs);
    return {
      sends: sends.length,
      received: within(good.filter(({ what }) => what === 'inbound')).length,
      acceptMedian: quantile(accepts, 0.5),
      acceptP99: quantile(accepts, 0.99),
      readMedian: quantile(delays, 0.5),
      readP99: quantile(delays, 0.99),
      memory: largest(({ memory }) => memory),
      descriptors: largest(({ descriptors }) => descriptors),
      bytesEach: ((seen.at(-1)?.database ?? 0) * 1e6) / (until('send') + until('inbound')),
      log: largest(({ log }) => log),
    };
  });
}

/** The stretches as lines of a Markdown table. Pure. */
export function tableOf(stretches: readonly Stretch[]): readonly string[] {
  const head = [
    '| stretch | sent | received | 202 after, median and 99th percentile | read after, median and 99th percentile | memory | descriptors | database a message | log |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  const rows = stretches.map((one, place) =>
    [
      `| ${place + 1} | ${one.sends} | ${one.received}`,
      `${one.acceptMedian.toFixed(1)} ms, ${one.acceptP99.toFixed(0)} ms`,
      `${one.readMedian.toFixed(0)} ms, ${one.readP99.toFixed(0)} ms`,
      `${one.memory.toFixed(0)} MB | ${one.descriptors}`,
      `${(one.bytesEach / 1000).toFixed(1)} KB | ${one.log.toFixed(1)} MB |`,
    ].join(' | '),
  );
  return [...head, ...rows];
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

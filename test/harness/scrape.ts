/** One line of `/metrics`. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What `/metrics` answers. */
export interface Scraped {
  readonly text: string;
  readonly samples: readonly ScrapedSample[];
  /** The sum of the samples of a metric that have these labels; undefined where there is none. */
  value(name: string, labels: Readonly<Record<string, string>>): number | undefined;
}

/** Scrapes the gateway of a base URL. */
export async function scraped(baseUrl: string): Promise<Scraped> {
  const text = await (await fetch(new URL('/metrics', baseUrl))).text();
  const samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', pairs = '', value]): ScrapedSample => ({
      name,
      labels: Object.fromEntries(
        [...pairs.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]),
      ),
      value: Number(value),
    }),
  );
  return {
    text,
    samples,
    value(name, labels) {
      const found = samples.filter(
        (one) =>
          one.name === name &&
          Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, one) => sum + one.value, 0);
    },
  };
}

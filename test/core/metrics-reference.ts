import type { MetricEntry } from '../../core/metrics/entry.ts';
import { metricTable } from '../../core/metrics/table.ts';

/** Every metric as a Markdown table, for docs/metrics.md, which a test compares with it. */
export function metricsReference(): string {
  const rows = [
    '| metric | type | of the | unit | labels | meaning |',
    '|---|---|---|---|---|---|',
  ];
  for (const [name, entry] of Object.entries<MetricEntry>(metricTable)) {
    const { type, of, unit, labels, meaning } = entry;
    const cells = [`\`${name}\``, type, of, unit, labelsText(labels), meaning];
    rows.push(`| ${cells.join(' | ')} |`);
  }
  return `${rows.join('\n')}\n`;
}

function labelsText(labels: MetricEntry['labels']): string {
  return Object.entries(labels)
    .map(([label, values]) => {
      const texts = typeof values === 'string' ? values : values.map((one) => `\`${one}\``);
      return `\`${label}\`: ${typeof texts === 'string' ? texts : texts.join(', ')}`;
    })
    .join('; ');
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

const ops = join(import.meta.dirname, '../../ops');

/** A rule of `ops/alerts.yaml`. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly datasource: { readonly uid: string };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** The rules of `ops/alerts.yaml`. */
export async function readRules(): Promise<readonly Rule[]> {
  const text = await readFile(join(ops, 'alerts.yaml'), 'utf8');
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The panels of `ops/dashboard.json`. */
export async function readPanels(): Promise<Dashboard['panels']> {
  const dashboard: Dashboard = JSON.parse(await readFile(join(ops, 'dashboard.json'), 'utf8'));
  return dashboard.panels;
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const page = new URL('../../../docs/mcp-conformance.md', import.meta.url);

/** What the page of conformance leaves out: scenarios, and single checks of scenarios whose others pass; sorted. */
export async function readLeftOut(): Promise<readonly string[]> {
  const rows = (await readFile(page, 'utf8')).matchAll(/^\| (`.+`) \| [A-Z].+\. \|$/gm);
  return [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', ')).sort();
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

/** What a run of the suite found, by names of scenarios and of checks. */
export interface Findings {
  readonly passed: readonly string[];
  /** What failed or warned, and scenarios that checked nothing: the check where it is left out by its own name. */
  readonly missing: readonly string[];
}

/** Reads what the suite has written, one folder for each scenario. */
export async function readFindings(folder: string, leftOut: readonly string[]): Promise<Findings> {
  const passed: string[] = [];
  const missing: string[] = [];
  for (const name of await readdir(folder)) {
    const scenario = name.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, '');
    const checks: Check[] = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'));
    const wrong = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    missing.push(...wrong.map(({ id }) => (leftOut.includes(id) ? id : scenario)));
    // Every scenario has the one about the form of all messages.
    const right = checks.filter(({ id, status }) => status === 'SUCCESS' && !/^wire-/.test(id));
    passed.push(...right.map(({ id }) => id));
    if (wrong.length === 0) (right.length > 0 ? passed : missing).push(scenario);
  }
  return { passed, missing };
}

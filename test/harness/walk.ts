import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Teardown } from './processes.ts';

/** The shell blocks of README's walk, in order. */
async function walk(): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const section = readme.slice(readme.indexOf('<!-- walk'), readme.indexOf('<!-- /walk -->'));
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
  return blocks.join('\n');
}

/** Runs README's walk word for word, but for the port, which stands in `baseUrl`; answers what it printed. */
export async function runWalk(t: Teardown, baseUrl: string, key: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'walk-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const script = await walk();
  const usual = 'http://127.0.0.1:3000/v1';
  if (!script.includes(usual)) throw new Error(`the walk does not speak of ${usual}`);
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', script.replace(usual, baseUrl)],
    { cwd: folder, env: { ...process.env, KEY: key }, timeout: 60_000 },
  );
  return stdout;
}

/** What the walk must have printed. */
export const walked = [
  /"status":"connecting"/,
  /"qr_image":"data:image\/png;base64,/,
  /"status":"queued"/,
  /"status":"read"/,
  /"text":"Hello back!"/,
  /"sends":1,/,
  /"accounts_connected":1,/,
];

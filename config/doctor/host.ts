import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { bad, type Finding, good } from './finding.ts';

/** Free bytes below which a data folder is called full: a gateway stops writing when there are none. */
const leastFreeBytes = 1_073_741_824;

/** A file that its user alone should read; mode null: there is none. */
export interface KeptPath {
  readonly path: string;
  readonly mode: number | null;
}

/** Judges who may read what the gateway keeps. Pure. */
export function judgeModes(paths: readonly KeptPath[]): Finding {
  const open = paths.find(({ mode }) => mode !== null && (mode & 0o077) !== 0);
  if (open === undefined)
    return good('files', 'What the gateway keeps is readable by its user alone.');
  const { path, mode } = open;
  const octal = ((mode ?? 0) & 0o777).toString(8);
  return bad('files', `${path} has mode ${octal}, others may use it: run chmod go-rwx ${path}.`);
}

/** Judges the free space. Pure. */
export function judgeDisk(folder: string, freeBytes: number): Finding {
  const free = `${(freeBytes / 1_073_741_824).toFixed(1)} GiB are free at ${folder}`;
  return freeBytes >= leastFreeBytes
    ? good('disk', `${free}.`)
    : bad('disk', `${free}: make room for at least 1 GiB, as a full disk refuses every send.`);
}

/** Looks at the data folder. To be called before a database is opened, which makes its file private. */
export async function examineHost(dataDir: string): Promise<readonly Finding[]> {
  if (!existsSync(dataDir)) {
    return [good('files', `There is no folder ${dataDir} yet: the first start makes it.`)];
  }
  const kept = await Promise.all(
    ['gateway.db', 'gateway-secret'].map(async (name): Promise<KeptPath> => {
      const path = join(dataDir, name);
      const found = await stat(path).catch(() => null);
      return { path, mode: found?.mode ?? null };
    }),
  );
  const { bavail, bsize } = await statfs(dataDir);
  return [judgeModes(kept), judgeDisk(dataDir, bavail * bsize)];
}

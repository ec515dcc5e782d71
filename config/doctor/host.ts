import { existsSync } from 'node:fs';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { bad, type Finding, good } from './finding.ts';

/** Free bytes below which a data folder is called full: a gateway stops writing when there are none. */
const leastFreeBytes = 1_073_741_824;

/** A file that its user alone should read; mode null: there is none. */
export interface KeptPath {
  readonly path: string;
  readonly mode: number | null;
}

/** Judges who may read what the gateway keeps. Pure. */
function judgeModes(paths: readonly KeptPath[]): Finding {
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

/** Paths of a gateway's data on its machine. */
export interface HostPaths {
  /** The file of an embedded database; null: a server has it. */
  readonly database: string | null;
  readonly dataDir: string;
  readonly media: string;
}

/** Judges file modes and disks. */
export async function examineHost(paths: HostPaths): Promise<readonly Finding[]> {
  const { database, dataDir, media } = paths;
  const folders = [...(database === null ? [] : [dirname(database)]), dataDir, media];
  if (!folders.some((folder) => existsSync(folder))) {
    return [good('files', `There is no folder ${dataDir} yet: the first start makes it.`)];
  }
  const files = [...(database === null ? [] : [database]), join(dataDir, 'gateway-secret')];
  const kept = files.map(async (path): Promise<KeptPath> => {
    const found = await stat(path).catch(() => null);
    return { path, mode: found?.mode ?? null };
  });
  const judged = [judgeModes(await Promise.all(kept)), ...(await examineDisks(folders))];
  return [...judged, ...(await examineMedia(media))];
}

/** Finds a folder of media that cannot be written: each file would be lost. */
async function examineMedia(folder: string): Promise<readonly Finding[]> {
  const there = nearest(resolve(folder, 'spool'));
  const isFolder = (await stat(there)).isDirectory();
  const isWritable = await access(there, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (isFolder && isWritable) return [];
  const wrong = isFolder ? 'cannot be written by this user' : 'is a file and no folder';
  return [bad('media', `${there} ${wrong}: correct GATEWAY_MEDIA__DIRECTORY.`)];
}

/** Judges the free space of folders, once for each disk. */
async function examineDisks(folders: readonly string[]): Promise<readonly Finding[]> {
  const findings = new Map<number, Finding>();
  for (const folder of folders) {
    const there = nearest(resolve(folder));
    const { dev } = await stat(there);
    if (findings.has(dev)) continue;
    const { bavail, bsize } = await statfs(there);
    findings.set(dev, judgeDisk(folder, bavail * bsize));
  }
  return [...findings.values()];
}

/** The folder itself, or the one in which it will be made. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

import { existsSync, statSync } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { create } from 'tar';
import { hasCode } from '../../core/error-code.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { gatewayVersion } from '../../core/version.ts';
import { type DataPaths, dataPathsOf } from '../backup/embedded.ts';
import { type Manifest, names } from '../backup/manifest.ts';
import { inWorkFolder } from '../backup/work-folder.ts';
import { copyDatabase, lockDatabase, openingRefusal, secretFile } from '../compose-backup.ts';
import type { Environment } from '../environment.ts';
import { readConfig } from '../read.ts';
import type { GatewayConfig } from '../schema.ts';
import type { Output } from './output.ts';

/** Disk space that a backup needs. */
interface Room {
  readonly path: string;
  readonly bytes: number;
}

/** Bytes that a backup leaves free. */
const leftFreeBytes = 64 * 1_048_576;

/**
 * `backup`: everything of an embedded gateway but its secret, as one tar file, beside the gateway that serves.
 * @throws ConfigError, StartRefusal
 */
export async function backUp(file: string, env: Environment): Promise<Output> {
  const config = readConfig(env);
  const paths = dataPathsOf(config);
  if (existsSync(file)) throw new StartRefusal(`${file} is there already: name another file.`);
  if (!existsSync(paths.database)) {
    throw new StartRefusal(`There is no database at ${paths.database}: correct DATABASE_URL.`);
  }
  const ends = { unlock: lockBackups(paths.database), leftBy: () => [partialOf(file)] };
  return await inWorkFolder(paths.database, 'backup', ends, (folder) => {
    return pack(file, config, paths, folder);
  });
}

const partialOf = (file: string): string => `${resolve(file)}.partial`;

/** @throws StartRefusal while another backup is made */
function lockBackups(database: string): () => void {
  try {
    return lockDatabase(`${database}.backup`, 'alone');
  } catch (cause) {
    if (!(cause instanceof StartRefusal)) throw cause;
    const message = `Another backup of ${database} is being made: wait until it has ended.`;
    throw new StartRefusal(message, { cause });
  }
}

async function pack(
  file: string,
  config: GatewayConfig,
  paths: DataPaths,
  folder: string,
): Promise<Output> {
  const created_at = new Date().toISOString();
  const manifest: Manifest = { format: 1, version: gatewayVersion, created_at };
  await writeFile(join(folder, names.manifest), JSON.stringify(manifest));
  await refuseFullDisk(file, paths, folder);
  try {
    copyDatabase(paths.database, join(folder, names.database));
  } catch (error) {
    throw openingRefusal(error, config);
  }
  copyDatabase(paths.network, join(folder, names.network));
  // After the database, so that no message that it has is without its file.
  const files = paths.media === null ? 0 : await take(paths.media, join(folder, names.media));
  const partial = partialOf(file);
  const packed = await readdir(folder);
  // A signal that came during the copy is heard here: heard while the archive is opened, it would leave the file behind.
  await setImmediate();
  await create({ file: partial, cwd: folder, portable: true, mode: 0o600 }, packed);
  await sync(partial);
  await rename(partial, file);
  const secret = config.gateway_secret ? 'GATEWAY_SECRET' : join(config.data_dir, secretFile);
  const text =
    `${file} has the database and ${files} files of media. Keep ${secret} apart from it: nobody can restore it ` +
    'without that secret.';
  return { json: { file, ...manifest, media: files }, text };
}

/** @throws StartRefusal where the backup would take the last of a disk from the gateway that serves */
async function refuseFullDisk(file: string, paths: DataPaths, folder: string): Promise<void> {
  const { database, network, media } = paths;
  const diskOf = (path: string) => statSync(path).dev;
  const rows = [database, network].flatMap((path) => [path, `${path}-wal`]).map(sizeOf);
  const kept = media !== null && existsSync(media) ? media : null;
  const files = kept === null ? [] : (await filesIn(kept)).map(sizeOf);
  const [copy, taken] = [rows, files].map((sizes) => sizes.reduce((sum, size) => sum + size, 0));
  const wanted = new Map<number, Room>();
  const want = (path: string, bytes = 0) => {
    const before = wanted.get(diskOf(path))?.bytes ?? 0;
    wanted.set(diskOf(path), { path, bytes: before + bytes });
  };
  want(dirname(folder), copy);
  // A link takes no room, and there is none to another disk.
  if (kept !== null && diskOf(kept) !== diskOf(folder)) want(dirname(folder), taken);
  const target = dirname(resolve(file));
  const isOwn = [folder, ...(kept === null ? [] : [kept])].some(
    (one) => diskOf(one) === diskOf(target),
  );
  if (isOwn) want(target, (copy ?? 0) + (taken ?? 0));
  for (const { path, bytes } of wanted.values()) {
    const { bavail, bsize } = await statfs(path);
    const missing = missingRoom(bavail * bsize, bytes);
    if (missing === 0) continue;
    const room = `${Math.ceil(missing / 1_048_576)} MiB`;
    const other = isOwn ? ', or name a FILE on another disk' : '';
    throw new StartRefusal(`${path} has too little room for a backup: make ${room} free${other}.`);
  }
}

/** Bytes of a file; 0 where there is none. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that a disk has too few, so that something stays for the gateway that serves. Pure. */
export function missingRoom(free: number, wanted: number): number {
  return Math.max(0, wanted + leftFreeBytes - free);
}

/** The files of a folder and of those in it. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Links, or copies, the files of a folder into another one; answers how many. One that is deleted meanwhile is left out. */
async function take(from: string, to: string): Promise<number> {
  if (!existsSync(from)) return 0;
  let taken = 0;
  for (const path of await filesIn(from)) {
    const target = join(to, relative(from, path));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    try {
      await link(path, target).catch(() => copyFile(path, target));
      taken += 1;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return taken;
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

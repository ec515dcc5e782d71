import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { extract } from 'tar';
import { createGateway } from '../../core/kernel.ts';
import { createLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { type DataPaths, dataPathsOf } from '../backup/embedded.ts';
import { names, readManifest } from '../backup/manifest.ts';
import { deleteUnknownMedia } from '../backup/media.ts';
import { leftInPlace, type Move, putInPlace } from '../backup/placing.ts';
import { inWorkFolder } from '../backup/work-folder.ts';
import { composeAdministration } from '../compose-administration.ts';
import { copyDatabase, lockDatabase, settleRestored } from '../compose-backup.ts';
import type { Environment } from '../environment.ts';
import { readConfig } from '../read.ts';
import type { GatewayConfig } from '../schema.ts';
import type { Output } from './output.ts';

/**
 * `restore`: unpacks a backup where no gateway has data yet, checks that it opens with this secret, and settles what it
 * cannot have. All of it is in place at the end, or nothing.
 * @throws ConfigError, StartRefusal, GatewayError
 */
export async function restore(file: string, env: Environment): Promise<Output> {
  const config = readConfig(env);
  const paths = dataPathsOf(config);
  if (!existsSync(file)) throw new StartRefusal(`There is no file ${file}.`);
  const ends = {
    unlock: lockAgainstGateways(paths.database),
    leftBy: leftInPlace,
  };
  return await inWorkFolder(paths.database, 'restore', ends, (folder) => {
    refuseData(paths);
    return takeOver(file, config, paths, folder);
  });
}

/** @throws StartRefusal while a gateway serves */
function lockAgainstGateways(database: string): () => void {
  try {
    return lockDatabase(database, 'alone');
  } catch (cause) {
    if (!(cause instanceof StartRefusal)) throw cause;
    const message = `A gateway, or another restore, uses ${database}: a backup is restored where there is no data.`;
    throw new StartRefusal(message, { cause });
  }
}

async function takeOver(
  file: string,
  config: GatewayConfig,
  paths: DataPaths,
  folder: string,
): Promise<Output> {
  // The unpacked files lie apart from the list that `putInPlace` writes.
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  await unpack(file, unpacked);
  const { version, created_at } = readManifest(unpacked, file);
  const { queued, media } = await settle(config, unpacked);
  if (media > 0) refuseBucket(media, paths);
  // A copy has what the settling has left in a file of its own beside the database.
  const settled = join(folder, 'settled.db');
  copyDatabase(join(unpacked, names.database), settled);
  await chmod(settled, 0o600);
  await putInPlace(folder, movesOf(unpacked, settled, paths));
  const text =
    `The backup of ${created_at} is restored. ${queued} queued messages may have been sent since: they are ` +
    'repeated under their references where the network drops repeats, else they fail with delivery_uncertain.';
  return { json: { file, version, created_at, queued }, text };
}

/** What goes where. The database is last: until it is there, the next restore deletes the others. */
function movesOf(
  unpacked: string,
  settled: string,
  { database, network, media }: DataPaths,
): readonly Move[] {
  const all: readonly (readonly [string, string | null])[] = [
    [join(unpacked, names.network), network],
    [join(unpacked, names.media), media],
    [settled, database],
  ];
  return all.flatMap(([from, to]) => (to === null || !existsSync(from) ? [] : [[from, to]]));
}

async function unpack(file: string, folder: string): Promise<void> {
  try {
    await extract({
      file,
      cwd: folder,
      strict: true,
      // The archive may have been made, or unpacked and packed again, with folders that others can read.
      onReadEntry: (entry) => {
        entry.mode = (entry.mode ?? 0o700) & 0o700;
      },
    });
  } catch (cause) {
    const why = whyNot(cause, dirname(dirname(folder)));
    throw new StartRefusal(`${file} cannot be unpacked ${why}.`, { cause });
  }
}

/** The fault of the file system or else of the backup, and what to do. */
function whyNot(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EISDIR') return 'as it is a folder: name the file of a backup';
  if (code === 'ENOSPC' || code === 'EDQUOT') return `in ${path} (${code}): make room there`;
  // Codes of the archive's own have an underscore.
  if (/^E[A-Z]+$/.test(code)) return `in ${path} (${code}): correct what hinders that`;
  return 'as a whole: take another backup';
}

function refuseData({ database, network, media }: DataPaths): void {
  // SQLite would write what such a file of a killed process has into the database that is put beside it.
  const files = [database, network].flatMap((path) => [path, `${path}-wal`, `${path}-journal`]);
  const found = [...files, media].find((path) => path !== null && existsSync(path));
  if (found === undefined) return;
  throw new StartRefusal(`${found} is there already: a backup is restored where there is no data.`);
}

/** Refuses to leave out the media of a backup: nothing would copy them into the bucket. */
function refuseBucket(files: number, { media }: DataPaths): void {
  if (media !== null) return;
  throw new StartRefusal(
    `The backup has ${files} files of media, and this gateway keeps media in a bucket: restore without ` +
      'GATEWAY_MEDIA__S3__BUCKET, then copy each TENANT/XX/KEY of media/kept into the bucket as TENANT/KEY behind ' +
      'GATEWAY_MEDIA__S3__PREFIX.',
  );
}

/**
 * Opens the unpacked database, which must be whole, not too new, and sealed with this secret. Answers how many messages
 * were queued in it, and how many files of media it has.
 */
async function settle(
  config: GatewayConfig,
  unpacked: string,
): Promise<{ readonly queued: number; readonly media: number }> {
  const database = join(unpacked, names.database);
  if (!existsSync(database)) throw new StartRefusal('The backup has no database.');
  const parts = { ...config, database_url: `sqlite:${database}` };
  const log = createLog('warn', process.stderr);
  const gateway = await createGateway(composeAdministration(parts, log, 'secrets'));
  try {
    const { storage } = gateway.cradle;
    const queued = await storage.submit(settleRestored, undefined);
    await storage.scrub();
    const media = await deleteUnknownMedia(join(unpacked, names.media), storage.read);
    return { queued, media };
  } finally {
    await gateway.close();
  }
}

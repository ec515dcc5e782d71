import { existsSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { basename, dirname, join } from 'node:path';

const memory = '/dev/shm';
const neededBytes = 8 * 1024 ** 3;

/** Where the run of this TEST_SERVERS_FILE may keep data in memory. */
export function memoryOf(file: string): string {
  return join(memory, basename(dirname(file)));
}

/**
 * Whether the run keeps its data in memory: a small one makes hundreds of databases, and their files take four fifths of
 * the time. One at full size, and the bench, need the disk.
 */
export function isInMemory(): boolean {
  const isSmall = Number(process.env.TEST_SCALE) < 1;
  if (!isSmall || !existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= neededBytes;
}

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { chunks } from '../../core/chunks.ts';
import type { Tables } from '../../core/contracts/storage.ts';

/** Names of one question to the database. */
const pageSize = 1_000;

/**
 * Deletes the files of a folder that no row has: those that came while the backup was made, after its database was
 * copied. Deletion goes by rows and would never find them. Answers how many files are left.
 */
export async function deleteUnknownMedia(folder: string, tables: Tables): Promise<number> {
  if (!existsSync(folder)) return 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  let left = 0;
  for (const page of chunks(files, pageSize)) {
    const announced = await tables.media.announced(page.map(({ name }) => name));
    const unknown = page.filter(({ name }) => !announced.has(name));
    for (const { parentPath, name } of unknown) await rm(join(parentPath, name));
    left += page.length - unknown.length;
  }
  return left;
}

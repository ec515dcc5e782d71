import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { isMediaKey } from '../../../core/media-reference.ts';
import type { MediaPlace } from '../contract.ts';
import type { ByteRange, MediaStore } from './store.ts';

/** Keeps files in a folder, in one of each tenant's own. */
export class FolderStore implements MediaStore {
  readonly #folder: string;

  /** @param folder on the same file system as the files that are put, so that a file is there as a whole or not at all */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(place: MediaPlace, path: string): Promise<void> {
    const target = this.#pathOf(place);
    const folder = dirname(target);
    await sync(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(path, target);
    // The message says that the file is there: a power failure must not take its name back.
    for (const changed of [folder, dirname(folder), this.#folder]) await sync(changed);
  }

  async open(place: MediaPlace, { start, end }: ByteRange): Promise<Readable | null> {
    try {
      const file = await open(this.#pathOf(place), 'r');
      return createReadStream('', { fd: file, start, end });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  async remove(place: MediaPlace): Promise<void> {
    await rm(this.#pathOf(place), { force: true });
  }

  close(): void {}

  /** @throws Error when a name could lead elsewhere */
  #pathOf({ key, tenantId }: MediaPlace): string {
    if (!isMediaKey(key) || !/^[a-z0-9_]+$/i.test(tenantId)) {
      throw new Error('this is not a place in the media store');
    }
    return join(this.#folder, tenantId, key.slice(0, 2), key);
  }
}

async function sync(path: string): Promise<void> {
  // Folders cannot be opened everywhere.
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return;
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

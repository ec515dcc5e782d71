import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { hasCode } from '../../../core/error-code.ts';
import { isMediaKey } from '../../../core/media-reference.ts';
import type { MediaLocation } from '../contract.ts';
import type { ByteRange, MediaStore } from './store.ts';

/** Codes of failures that are of one file: the folder is there. */
const ofOneFile: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EISDIR', 'ERR_FS_EISDIR']);

/** Folder store: one folder for each tenant. */
export class FolderStore implements MediaStore {
  readonly #folder: string;

  /**
   * @param folder on the same file system as the files that are put, so that a rename stores a file as a whole or not
   * at all
   */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(location: MediaLocation, path: string): Promise<void> {
    const target = this.#pathOf(location);
    const folder = dirname(target);
    await sync(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(path, target);
    // A stored message refers to the file: a power failure must not undo the rename.
    for (const changed of [folder, dirname(folder), this.#folder]) await sync(changed);
  }

  async open(location: MediaLocation, { start, end }: ByteRange): Promise<Readable | null> {
    try {
      const file = await open(this.#pathOf(location), 'r');
      return createReadStream('', { fd: file, start, end });
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  async remove(location: MediaLocation): Promise<void> {
    await rm(this.#pathOf(location), { force: true });
  }

  isOfOneFile(error: unknown): boolean {
    return error instanceof Error && 'code' in error && ofOneFile.has(error.code);
  }

  close(): void {}

  /** Path of a file. @throws Error when key or tenant could lead out of the folder */
  #pathOf({ key, tenantId }: MediaLocation): string {
    if (!isMediaKey(key) || !/^[a-z0-9_]+$/i.test(tenantId)) {
      throw new Error('this is not a location in the media store');
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

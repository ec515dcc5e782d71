import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asError } from '../../../core/error-code.ts';
import { StartRefusal } from '../../../core/start-refusal.ts';
import { MediaFailure } from './failure.ts';

/** Age of a file that a dead process left behind, milliseconds since its last change. */
const forgottenMs = 6 * 3_600_000;

/** Names that the spool gives. The folder may have others, such as those of its file system. */
const ownName = /^[0-9a-f]{32}$/;

/** Files deleted in one round. */
const roundSize = 1_000;

/** A spooled file. */
export interface SpooledFile {
  readonly path: string;
  readonly size: number;
  /** Deletes it. Never rejects; idempotent. */
  remove(): Promise<void>;
}

/** Limits of a spooled file. */
export interface SpoolLimits {
  readonly maxBytes: number;
  /** Destroys the source and rejects with its reason. */
  readonly signal: AbortSignal;
  /** Called when bytes come. */
  readonly heard?: () => void;
}

/** Spool folder: files are streamed into it, so that none has to fit into memory. */
export class Spool {
  readonly #folder: string;
  /** The files that are there, or are about to be. */
  readonly #paths = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes the folder, and tries it with a file.
   * @returns the error of a disk that is full or failing, which may pass: texts need no file
   * @throws StartRefusal when it cannot be written, as each file would be lost
   */
  async open(): Promise<Error | null> {
    const { signal } = new AbortController();
    try {
      const tried = await this.write(Readable.from(['tried']), { maxBytes: 100, signal });
      await tried.remove();
      return null;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const reason = 'code' in error ? String(error.code) : error.message;
      if (['ENOSPC', 'EDQUOT', 'EIO'].includes(reason)) return error;
      const message = `${this.#folder} cannot be written (${reason}): make it so, or set media.directory (GATEWAY_MEDIA__DIRECTORY) to another place.`;
      throw new StartRefusal(message, { cause: error });
    }
  }

  /**
   * Writes a stream to its end.
   * @throws MediaFailure when the file is too large or empty, else the error of stream or file system; no file is left
   */
  async write(source: Readable, { maxBytes, signal, heard }: SpoolLimits): Promise<SpooledFile> {
    const path = join(this.#folder, randomBytes(16).toString('hex'));
    this.#paths.add(path);
    const remove = () => this.#remove(path);
    let size = 0;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        heard?.();
        if (size > maxBytes) done(tooLarge(maxBytes));
        else done(null, chunk);
      },
    });
    let file: WriteStream | undefined;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
      await pipeline(source, count, file, { signal });
    } catch (error) {
      source.destroy();
      // An aborted pipeline does not wait for its file: one that opens later would be created behind its removal.
      await closed(file);
      await remove();
      throw signal.aborted ? signal.reason : error;
    }
    if (size > 0) return { path, size, remove };
    await remove();
    throw new MediaFailure('media_unavailable', 'the file is empty');
  }

  /** Deletes the files that are left. Called when nothing is fetched and nothing read any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#paths].map((path) => this.#remove(path)));
  }

  /** Deletes files that a crash left behind, a bounded number. Answers why one of them is left; null when none is. */
  async sweep(): Promise<Error | null> {
    const names = await readdir(this.#folder).catch(() => []);
    const before = Date.now() - forgottenMs;
    let deleted = 0;
    let fault: Error | null = null;
    for (const name of names.filter((one) => ownName.test(one))) {
      const path = join(this.#folder, name);
      const found = await lstat(path).catch(() => null);
      if (found === null || !found.isFile() || found.mtimeMs >= before) continue;
      try {
        await rm(path, { force: true });
        deleted += 1;
      } catch (error) {
        fault ??= asError(error);
      }
      if (deleted === roundSize) break;
    }
    return fault;
  }

  async #remove(path: string): Promise<void> {
    await rm(path, { force: true }).catch(() => undefined);
    this.#paths.delete(path);
  }
}

async function closed(file: WriteStream | undefined): Promise<void> {
  if (file === undefined || file.closed) return;
  await new Promise<void>((resolve) => file.once('close', () => resolve()));
}

/** The failure of a file above the limit. */
export function tooLarge(maxBytes: number): MediaFailure {
  return new MediaFailure('media_too_large', `the file is larger than ${maxBytes} bytes`);
}

import { LRUCache } from 'lru-cache';
import { chunks } from '../../core/chunks.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { PacedLines } from '../../core/paced-lines.ts';
import { untilAborted } from '../../core/waiting.ts';
import type { MediaLocation, MediaOwner } from './contract.ts';
import { deleteMediaRowsLane } from './lanes.ts';
import type { MediaStore } from './store/store.ts';
import { firstMedia, type GivenUpPage, type MediaPosition } from './tables/media.ts';

/** Maximum concurrent deletions. */
const atOnce = 8;

/** Files of one page. */
const pageSize = 4 * atOnce;

/** Pages in a row of which nothing was deleted, after which a deletion gives up for now. */
const maxFruitless = 4;

/** Owners whose positions are remembered: more than are erased at once. */
const maxPositions = 1_000;

/** Dependencies of a deletion. */
export interface DeletionParts {
  readonly storage: Storage;
  readonly store: MediaStore;
  readonly log: GatewayLog;
}

/** Deletion of the files that were given up, page by page. A row goes after its file, so that a failure is repeated. */
export class Deletion {
  readonly #parts: DeletionParts;
  readonly #lines = new PacedLines();
  #from = firstMedia;
  /** By contact or tenant: where the store seemed to be away last. */
  readonly #positions = new LRUCache<string, MediaPosition>({ max: maxPositions });

  constructor(parts: DeletionParts) {
    this.#parts = parts;
  }

  /** Deletes files of all tenants; goes on where the store seemed to be away last, so that no file holds up another. */
  async ofAll(stop: AbortSignal): Promise<void> {
    this.#from = (await this.#run(this.#from, null, stop)).next ?? firstMedia;
  }

  /**
   * Deletes files of one contact, by its id or an alias, or of one tenant, first those behind the position of the last
   * time. Answers why one of them is left; null when none is.
   */
  async of(owner: MediaOwner, stop: AbortSignal): Promise<Error | null> {
    const present = await this.#present(owner);
    const whose = present.contactId ?? present.tenantId;
    const position = this.#positions.get(whose);
    const behind = position === undefined ? null : await this.#run(position, present, stop);
    const { fault, next } =
      behind?.next === undefined ? await this.#run(firstMedia, present, stop) : behind;
    if (next === undefined) this.#positions.delete(whose);
    else this.#positions.set(whose, next);
    if (next === undefined && fault === undefined) return null;
    return new Error('a file is not deleted yet', { cause: fault });
  }

  /** The owner as the rows name it: another contact has become one with it. */
  async #present({ tenantId, contactId }: MediaOwner): Promise<MediaOwner> {
    if (contactId === null) return { tenantId, contactId };
    const aliases = await this.#parts.storage.read.contactAliases.of([contactId]);
    return { tenantId, contactId: aliases.get(contactId) ?? contactId };
  }

  async #run(from: MediaPosition, owner: MediaOwner | null, stop: AbortSignal) {
    const { storage } = this.#parts;
    let fault: unknown;
    let next: MediaPosition | undefined = from;
    let fruitless = 0;
    while (next !== undefined && !stop.aborted) {
      const page: GivenUpPage = await storage.read.media.givenUp(owner, next, pageSize);
      const { deleted, refused, failed } = await this.#delete(page.files, stop);
      if (deleted.length > 0) await storage.submit(deleteMediaRowsLane, deleted);
      fault ??= failed;
      next = page.next;
      fruitless = deleted.length > 0 ? 0 : fruitless + 1;
      // The store is away, or refuses whatever is asked: a sweep that waited for each of the others would last for minutes.
      const isAway = page.files.length === pageSize && deleted.length + refused === 0;
      if (isAway || fruitless === maxFruitless) break;
    }
    return { fault: stop.aborted ? stop.reason : fault, next };
  }

  /** Deletes files. Answers the keys of deleted files, how many files the store refused, and the first failure. */
  async #delete(files: readonly MediaLocation[], stop: AbortSignal) {
    const deleted: string[] = [];
    let refused = 0;
    let failed: unknown;
    for (const some of chunks(files, atOnce)) {
      if (stop.aborted) break;
      await Promise.all(
        some.map(async (file) => {
          try {
            // A store that does not answer holds up no stop: the row is left, so that the removal is repeated.
            await untilAborted(stop, this.#parts.store.remove(file));
            deleted.push(file.key);
          } catch (error) {
            failed ??= error;
            if (this.#parts.store.isOfOneFile(error)) refused += 1;
            if (!stop.aborted) this.#warn(error);
          }
        }),
      );
    }
    return { deleted, refused, failed };
  }

  #warn(error: unknown): void {
    const { code, name } = error as NodeJS.ErrnoException;
    const more = this.#lines.take(code ?? name);
    if (more === null) return;
    this.#parts.log.warn(
      { err: error, ...more },
      'a file of the media store could not be deleted: it is tried again',
    );
  }
}

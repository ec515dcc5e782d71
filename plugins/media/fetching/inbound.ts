import { randomBytes } from 'node:crypto';
import { DriverError, type InboundMedia, type MediaKind } from '../../../core/contracts/driver.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { longestDelayMs, untilAborted } from '../../../core/waiting.ts';
import type { MediaLocation, TakenMedia } from '../contract.ts';
import { announceLane, discardLane } from '../lanes.ts';
import type { MediaMetrics } from '../metrics.ts';
import type { MediaStore } from '../store/store.ts';
import { startDeadline } from './deadline.ts';
import { type DownloadParts, download } from './download.ts';
import { MediaFailure } from './failure.ts';
import { givenFileName } from './file-names.ts';
import { type FileDetails, inspectFile } from './inspect.ts';
import { spoolOpened } from './opened.ts';
import type { Slots } from './slots.ts';
import { type SpooledFile, tooLarge } from './spool.ts';
import { inTries } from './tries.ts';
import { kindOf, readType, unknownType } from './types.ts';

/**
 * Pauses before a file is tried again, milliseconds. The messages behind it wait, so they are over long before the time
 * that one file may take.
 */
const usualPausesMs: readonly number[] = [1_000, 5_000, 15_000];

/** For which nothing may come of a file, as a part of the time that it may take: then there is room for another try. */
const silentShare = 1 / 3;

/** A file waits for its slots, in sum, this many times as long as it may take; never longer than a timer can. */
const mostWaits = 5;

/** Dependencies of inbound media. */
export interface InboundMediaParts extends DownloadParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly store: MediaStore;
  readonly slots: Slots;
  /** Pauses before the second try and each after it. Default: three within half a minute. */
  readonly pausesMs?: readonly number[];
  readonly metrics: Pick<MediaMetrics, 'fetch'>;
  readonly log: GatewayLog;
}

/** A spooled file with the type and name that server or network gave. */
interface Arrived {
  readonly file: SpooledFile;
  readonly type: string | null | undefined;
  readonly name: string | null;
}

/** What the tries came to: the file, or the error of a database that is away. */
type Outcome = { readonly taken: TakenMedia } | { readonly away: unknown };

/** Takes the media of received messages into the store. */
export class InboundTaker {
  readonly #parts: InboundMediaParts;

  constructor(parts: InboundMediaParts) {
    this.#parts = parts;
  }

  /** See `MediaService.take`. */
  async take(
    media: InboundMedia,
    tenantId: string,
    signal: AbortSignal,
    accountId?: string,
  ): Promise<TakenMedia | null> {
    const { metrics } = this.#parts;
    let outcome: Outcome;
    try {
      outcome = await this.#inTries(media, tenantId, signal);
    } catch (error) {
      const comesAgain = error instanceof DriverError && error.retryAfterMs !== null;
      if (!signal.aborted && !comesAgain) {
        metrics.fetch('inbound', 'failed');
        this.#explain(error, media, { tenant: tenantId, account: accountId });
      }
      if (comesAgain) throw error;
      return null;
    }
    if ('away' in outcome) throw outcome.away;
    metrics.fetch('inbound', 'fetched');
    return outcome.taken;
  }

  /** Each try has a slot and a row of its own. The waits for them have a bound of their own: nobody was asked meanwhile. */
  #inTries(media: InboundMedia, tenantId: string, signal: AbortSignal): Promise<Outcome> {
    const { storage, slots, timeoutMs, pausesMs = usualPausesMs } = this.#parts;
    const longestMs = Math.min(mostWaits * timeoutMs, longestDelayMs);
    const reason = `it waited ${longestMs / 1000} s for other files`;
    const noTurn = new MediaFailure('media_unavailable', reason);
    const begunAt = performance.now();
    let waitedMs = 0;
    const endsAt = (): number => begunAt + timeoutMs + waitedMs;
    return inTries({ pausesMs, endsAt, signal }, async () => {
      const waitsFrom = performance.now();
      const wait = startDeadline(longestMs - waitedMs, signal, noTurn);
      try {
        return await slots.run({ tenantId, server: null }, wait.signal, async () => {
          wait.release();
          const location = { key: randomBytes(16).toString('hex'), tenantId };
          try {
            await storage.submit(announceLane, location);
          } catch (away) {
            return { away };
          }
          waitedMs += performance.now() - waitsFrom;
          return { taken: await this.#inTime(media, location, endsAt(), signal) };
        });
      } finally {
        wait.release();
      }
    });
  }

  async #inTime(
    media: InboundMedia,
    location: MediaLocation,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<TakenMedia> {
    const late = `it was not there within ${this.#parts.timeoutMs / 1000} s`;
    const failure = new MediaFailure('media_unavailable', late);
    const deadline = startDeadline(endsAt - performance.now(), signal, failure);
    let isPut = false;
    const onPut = (): void => {
      isPut = true;
    };
    try {
      return await this.#take(media, location, deadline.signal, onPut);
    } catch (error) {
      // A store may still take a file that failed here: its row waits, and is given up by a sweep long after that.
      if (!isPut && !deadline.signal.aborted) await this.#discard(location);
      throw error;
    } finally {
      deadline.release();
    }
  }

  async #take(
    media: InboundMedia,
    location: MediaLocation,
    signal: AbortSignal,
    onPut: () => void,
  ): Promise<TakenMedia> {
    const { store, maxBytes } = this.#parts;
    if ((media.size ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const { file, type, name } = await this.#bring(media, signal);
    try {
      const details = await inspectFile(file.path, { type, name });
      onPut();
      const put = store.put(location, file.path);
      await untilAborted(signal, put, () => void this.#discard(location));
      return { ...location, ...described(details, media), size: file.size };
    } finally {
      await file.remove();
    }
  }

  async #bring(media: InboundMedia, signal: AbortSignal): Promise<Arrived> {
    const silenceMs = this.#parts.timeoutMs * silentShare;
    if (media.open !== undefined) {
      const file = await spoolOpened(this.#parts, media.open.bind(media), silenceMs, signal);
      return { file, type: media.mimeType, name: media.fileName };
    }
    if (media.url === null) throw new MediaFailure('media_unavailable', 'there is nothing to read');
    const { file, headers } = await download({ ...this.#parts, silenceMs }, media.url, signal);
    const named = givenFileName(headers['content-disposition'], media.url);
    const type = media.mimeType ?? headers['content-type'];
    return { file, type, name: media.fileName ?? named };
  }

  #explain(
    error: unknown,
    { kind }: InboundMedia,
    whose: { readonly tenant: string; readonly account: string | undefined },
  ): void {
    const details = { ...whose, kind };
    const because =
      error instanceof MediaFailure ? { reason: error.message, err: error.cause } : { err: error };
    this.#parts.log.warn({ ...details, ...because }, 'inbound media could not be fetched');
  }

  async #discard(location: MediaLocation): Promise<void> {
    await this.#parts.storage.submit(discardLane, location).catch((error: unknown) => {
      this.#parts.log.warn(
        { err: error },
        'media could not be discarded: a later sweep deletes it',
      );
    });
  }
}

/** Facts by the bytes, completed by those of the network: a picture that was sent as a file is a document. */
function described(
  { kind, mimeType, fileName }: FileDetails,
  media: InboundMedia,
): { readonly kind: MediaKind; readonly mimeType: string; readonly fileName: string } {
  const said = readType(media.mimeType);
  const isHarmless = said !== null && kindOf(said) === 'document';
  return {
    kind: media.kind === 'document' ? 'document' : kind,
    mimeType: mimeType === unknownType && isHarmless ? said : mimeType,
    fileName,
  };
}

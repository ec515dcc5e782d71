import { createReadStream } from 'node:fs';
import { DriverError, type MediaFile, type OutboundMedia } from '../../../core/contracts/driver.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LentFile } from '../contract.ts';
import type { MediaMetrics } from '../metrics.ts';
import { FetchBackoff, pausesMs } from './backoff.ts';
import { type DownloadParts, download } from './download.ts';
import { cutShort, MediaFailure } from './failure.ts';
import { givenFileName } from './file-names.ts';
import { inspectFile } from './inspect.ts';
import { type Slots, type SlotUser, serverOf } from './slots.ts';
import type { SpooledFile } from './spool.ts';
import { inTries } from './tries.ts';
import { isSendableType, readType, unknownType } from './types.ts';

/** Dependencies of outbound fetching. */
export interface OutboundMediaParts extends DownloadParts {
  readonly slots: Slots;
  readonly metrics: Pick<MediaMetrics, 'fetch'>;
  readonly log: GatewayLog;
}

/** Fetches files that are to be sent. */
export class OutboundFetcher {
  readonly #parts: OutboundMediaParts;
  readonly #backoff = new FetchBackoff();

  constructor(parts: OutboundMediaParts) {
    this.#parts = parts;
  }

  /** See `MediaService.fetch`. @throws DriverError, always certain */
  async fetch(
    { url }: OutboundMedia,
    tenantId: string,
    signal: AbortSignal,
    reference: string | null,
  ): Promise<LentFile> {
    const send = `${tenantId} ${reference ?? url}`;
    try {
      const lent = await this.#lend(url, { tenantId }, signal);
      this.#backoff.forget(send);
      return lent;
    } catch (error) {
      if (signal.aborted) throw cutShort();
      const failure = this.#failureOf(error, tenantId, reference);
      const retryAfterMs = failure.mayPass
        ? this.#backoff.pauseAfter(send, performance.now())
        : null;
      throw asDriverError(failure, retryAfterMs);
    }
  }

  /**
   * Fetches a file in up to three tries, none of which begins before `mayBegin`.
   * @throws DriverError, always certain, without a time to try again
   */
  async fetchAhead(
    { url }: OutboundMedia,
    tenantId: string,
    signal: AbortSignal,
    mayBegin: () => boolean,
    reference: string,
  ): Promise<LentFile> {
    try {
      const fetch = () => this.#lend(url, { tenantId, mayBegin }, signal);
      return await inTries({ pausesMs, signal }, fetch);
    } catch (error) {
      if (signal.aborted) throw cutShort();
      throw asDriverError(this.#failureOf(error, tenantId, reference), null);
    }
  }

  async #lend(
    url: string,
    whose: Omit<SlotUser, 'server'>,
    signal: AbortSignal,
  ): Promise<LentFile> {
    const user = { ...whose, server: serverOf(url) };
    const { slots, metrics } = this.#parts;
    try {
      const fetched = await slots.run(user, signal, () => this.#fetch(url, signal));
      metrics.fetch('outbound', 'fetched');
      return lend(fetched.spooled, fetched.details, signal);
    } catch (error) {
      if (!signal.aborted) metrics.fetch('outbound', 'failed');
      throw error;
    }
  }

  async #fetch(url: string, signal: AbortSignal) {
    const { file, headers } = await download(this.#parts, url, signal, refuseDeclared);
    try {
      const name = givenFileName(headers['content-disposition'], url);
      const details = await inspectFile(file.path, { type: headers['content-type'], name });
      if (!isSendableType(details.mimeType)) throw notAllowed(details.mimeType);
      signal.throwIfAborted();
      return { spooled: file, details };
    } catch (error) {
      await file.remove();
      throw error;
    }
  }

  #failureOf(error: unknown, tenant: string, message: string | null): MediaFailure {
    const failure =
      error instanceof MediaFailure
        ? error
        : new MediaFailure('media_unavailable', 'the gateway could not keep the file', {
            mayPass: true,
            cause: error,
          });
    if (failure.cause !== undefined) {
      const context = { err: failure.cause, tenant, message: message ?? undefined };
      this.#parts.log.warn(context, 'media that is to be sent could not be kept');
    }
    return failure;
  }
}

function asDriverError(failure: MediaFailure, retryAfterMs: number | null): DriverError {
  const { code, message } = failure;
  // Decision: a file holds up its own conversation only.
  const concerns = retryAfterMs === null ? 'message' : 'contact';
  return new DriverError(code, message, { certain: true, retryAfterMs, concerns, cause: failure });
}

/** Refuses a declared type that may not be sent, before the body is read. */
function refuseDeclared(headers: Readonly<Record<string, string | undefined>>): void {
  const declared = readType(headers['content-type']);
  if (declared !== null && /^text\/(html|xml|javascript)$|xhtml/.test(declared)) {
    throw notAllowed(declared);
  }
}

function notAllowed(type: string): MediaFailure {
  const what = type === unknownType ? 'what the address leads to' : `a file of type ${type}`;
  const message = `${what} is no image, video, audio file or document that can be sent`;
  return new MediaFailure('media_type_not_allowed', message);
}

function lend(
  { path, size, remove }: SpooledFile,
  details: Omit<MediaFile, 'size' | 'stream'>,
  signal: AbortSignal,
): LentFile {
  const release = (): void => {
    signal.removeEventListener('abort', release);
    void remove();
  };
  signal.addEventListener('abort', release, { once: true });
  return { file: { ...details, size, stream: () => createReadStream(path) }, release };
}

/** The contract of media: fetching files to be sent, keeping received files, and addresses of kept files. */
import type {
  InboundMedia,
  MediaFile,
  MediaKind,
  OutboundMedia,
} from '../../core/contracts/driver.ts';

/** The key of a file in the media store. */
export interface MediaPlace {
  /** 32 hexadecimal digits, drawn at random. */
  readonly key: string;
  readonly tenantId: string;
}

/** A file in the media store, as it is served. */
export interface StoredFile extends MediaPlace {
  readonly mimeType: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
}

/** A file that was taken into the store and waits for its message. */
export interface TakenMedia extends StoredFile {
  readonly kind: MediaKind;
}

/** A file and the message that brought it. */
export interface KeptMedia extends StoredFile {
  readonly messageId: string;
}

/** A fetched file, and how to give it back. */
export interface LentFile {
  readonly file: MediaFile;
  /** Deletes the file; idempotent. Called by itself once the signal of the fetch aborts. */
  release(): void;
}

/** Media as the container hands it out under the name `media`. */
export interface MediaService {
  /**
   * Fetches what a tenant's account is to send, see `Port.fetchMedia`. The file lives until `release` is called or
   * the signal aborts.
   * @throws DriverError as `Port.fetchMedia` does
   */
  fetch(media: OutboundMedia, tenantId: string, signal: AbortSignal): Promise<LentFile>;
  /**
   * Takes what came with a message into the store, within the limits on size and time. The file is given to its
   * message by `unit.media.keep` in the transaction that stores it, or given back with `discard`; one of which
   * neither is done is deleted within the hour.
   * @returns null when it could not be fetched: logged, and never reason enough to lose the message
   * @throws GatewayError `unavailable` when the database is away: nothing was fetched then
   */
  take(media: InboundMedia, tenantId: string, signal: AbortSignal): Promise<TakenMedia | null>;
  /** Deletes a file without a message. Never rejects; a sweep repeats failures. */
  discard(key: string): Promise<void>;
  /** Deletes given-up files soon. To be called after the commit that gave them up. */
  sweep(): void;
  /** An address of a stored file for whoever holds it, good for 24 hours, on any process. */
  mint(key: string): string;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly media: MediaService;
  }
}

/** The contract of media: fetching files to be sent, keeping received files, and addresses of kept files. */
import type {
  InboundMedia,
  MediaFile,
  MediaKind,
  OutboundMedia,
} from '../../core/contracts/driver.ts';

/** Location of a file in the media store. */
export interface MediaLocation {
  /** 32 hexadecimal digits, drawn at random. */
  readonly key: string;
  readonly tenantId: string;
}

/** A file in the media store, as it is served. */
export interface StoredFile extends MediaLocation {
  readonly mimeType: string;
  readonly fileName: string;
  /** In bytes. */
  readonly size: number;
}

/** A file that was taken into the store and waits for its message. */
export interface TakenMedia extends StoredFile {
  readonly kind: MediaKind;
}

/** A file, the message that brought it, and its contact. */
export interface KeptMedia extends StoredFile {
  readonly messageId: string;
  /** Who wrote it. */
  readonly contactId: string;
}

/** Whose files are deleted: those of one contact's messages, or with null all of the tenant. */
export interface MediaOwner {
  readonly tenantId: string;
  readonly contactId: string | null;
}

/** A fetched file that its borrower releases. */
export interface LentFile {
  readonly file: MediaFile;
  /** Deletes the file; idempotent. Called by itself once the signal of the fetch aborts. */
  release(): void;
}

/**
 * Media of one session's messages, fetched before they are sent. Messages are named by their reference. A fetch has three
 * tries. Its file or its failure is kept until `forget`, for ten minutes at most.
 */
export interface MediaAhead {
  /** Fetches the file of a message further back in its conversation, as soon as there is room. Idempotent. */
  begin(reference: string, media: OutboundMedia): void;
  /**
   * Whether the file is there, or has failed for good. Asked right before each try to send: a file that waited too long, or
   * for which there was no room, was deleted, and `settled` fetches it again.
   */
  isSettled(reference: string): boolean;
  /**
   * Fetches the file of a message that is the next of its conversation. Resolves at once when it is there. Waits for room
   * while another such file of the session waits for its turn.
   * @returns resolves once it is there, has failed for good, or the session is over. Never rejects
   */
  settled(reference: string, media: OutboundMedia): Promise<void>;
  /**
   * Lends the file, once it has settled; `release` keeps it for another try. Null when none was fetched for it.
   * @throws DriverError as `MediaService.fetch` does, never with a time to try again unless the signal aborts
   */
  take(reference: string, signal: AbortSignal): Promise<LentFile | null>;
  /** Deletes the file: the message was sent, has failed or was removed. Idempotent. */
  forget(reference: string): void;
}

/** The media service, `media` in the container. */
export interface MediaService {
  /**
   * Fetches a file that an account of the tenant is to send, see `Port.fetchMedia`. The file exists until `release` is
   * called or the signal aborts.
   * @param reference of the message whose tries are counted; null where it is not known: those of the address are
   * @throws DriverError as `Port.fetchMedia` does
   */
  fetch(
    media: OutboundMedia,
    tenantId: string,
    signal: AbortSignal,
    reference: string | null,
  ): Promise<LentFile>;
  /**
   * Begins to fetch ahead for a session of the tenant.
   * @param signal aborts with the session, which deletes every file
   */
  ahead(tenantId: string, signal: AbortSignal): MediaAhead;
  /**
   * Takes the media of a received message into the store, within the limits on size and time, in up to four tries. Its
   * time runs while it has a slot and between its tries; it waits for slots five times as long at most, in sum. The
   * transaction that stores the message keeps the file by `unit.media.keep`; `discard` deletes it. A file that is neither
   * kept nor discarded is deleted within the hour.
   * @param accountId that has received it, for the log
   * @returns null when the media could not be fetched: that is logged, and the message is stored without it
   * @throws GatewayError `unavailable` when the database is away: nothing was fetched then; DriverError when the driver
   *   wants the message to come again
   */
  take(
    media: InboundMedia,
    tenantId: string,
    signal: AbortSignal,
    accountId?: string,
  ): Promise<TakenMedia | null>;
  /** Deletes a file without a message. Never rejects; a sweep repeats failures. */
  discard(location: MediaLocation): Promise<void>;
  /** Starts a sweep that deletes given-up files. Called after the commit that gave them up. */
  sweep(): void;
  /**
   * Deletes the files of a contact, by its id or an alias, or of a tenant that are given up; waits for no others.
   * @param signal ends it at once, as one that could not delete all
   * @throws GatewayError `unavailable`, with the reason as its cause, when one could not be deleted, which a later sweep
   *   tries again
   */
  swept(owner: MediaOwner, signal: AbortSignal): Promise<void>;
  /**
   * Makes an address of a stored file, valid for 24 hours on any process. Whoever has the address can read the file.
   */
  mint(key: string): string;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly media: MediaService;
  }
}

import type { Readable } from 'node:stream';

/** A message on its way out. */
export interface OutboundMessage {
  /** The gateway's message id, to be used as the network's de-duplication key. */
  readonly reference: string;
  /** 1 for the first try, higher when it may have been sent before. */
  readonly attempt: number;
  readonly to: ContactAddress;
  readonly text: string;
  readonly media: OutboundMedia | null;
}

/** The address of a contact on the network. At least one of the two is not null. */
export interface ContactAddress {
  readonly phone: string | null;
  /** The network's opaque id, as the driver reported it. */
  readonly networkId: string | null;
}

/** Media to send: an address that the driver never fetches itself, see `Port.fetchMedia`. */
export interface OutboundMedia {
  readonly url: string;
}

/** What kind of media a message carries. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document';

/** Media that the gateway fetched for a driver; already within the limits on size and type. */
export interface MediaFile {
  readonly kind: MediaKind;
  /** Without parameters, for example `image/png`. */
  readonly mimeType: string;
  readonly fileName: string;
  /** In bytes, exactly what `stream` gives. */
  readonly size: number;
  /** The bytes from the start; a new stream at every call. */
  stream(): Readable;
}

/** The network's answer to a send. */
export interface Sent {
  /** The network's id of the message; receipts may come with it. */
  readonly networkId: string;
  /** When the network took it, milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A contact as the network knows it. */
export interface DriverContact extends ContactAddress {
  readonly name: string | null;
}

/** What a message brought with it. Fetched only after the gateway decided to keep the message. */
export interface InboundMedia {
  readonly kind: MediaKind;
  readonly mimeType: string | null;
  readonly fileName: string | null;
  readonly size: number | null;
  /** An address that anybody can fetch, when the network has one. */
  readonly url: string | null;
  /**
   * Opens the bytes, for a network whose media only its own client can read; absent when there is a `url` or
   * nothing to read. Called while `emit` of the message is pending: once, and again a few times within the time limit of
   * one file after it rejected, its stream failed, or nothing came for long. In the end the message is kept without its
   * bytes; after a `DriverError` at once, unless that has a time to try again: then it is not kept, and `emit` rejects.
   * The signal aborts when this call is given up.
   */
  readonly open?: (signal: AbortSignal) => Promise<Readable>;
}

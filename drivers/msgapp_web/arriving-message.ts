import { DriverError, type MessageEvent } from '../../core/contracts/driver.ts';
import { type ContactMessage, messageEventOf } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { describedMedia, plainPart } from './media-part.ts';

/** State of a message that arrives. */
export type ArrivingState =
  // Not durable yet.
  | 'fresh'
  // Behind another message of the contact.
  | 'waiting'
  // With the gateway, which stores the message.
  | 'emitted'
  // After a failure; later messages of the contact wait.
  | 'paused'
  // For the next connection; no message waits behind.
  | 'left';

/** A message that is kept until the gateway has it: it waits for a file, or behind a message that does. */
export class ArrivingMessage {
  state: ArrivingState;
  /** Number of failed tries. */
  failures = 0;
  readonly #written: ContactMessage;
  /** Addresses that the network names the writer by. */
  readonly #writer: readonly string[];
  readonly #receivedAt: number;
  readonly #gone = new AbortController();

  /** @param receivedAt when it came from the network, milliseconds since the Unix epoch */
  constructor(
    written: ContactMessage,
    writer: readonly string[],
    state: ArrivingState,
    receivedAt: number,
  ) {
    this.#written = { ...written, media: written.media && plainPart(written.media) };
    this.#writer = writer;
    this.state = state;
    this.#receivedAt = receivedAt;
  }

  /** Reads a durable message. @param text as `toText` gave it */
  static stored(library: Library, text: string): ArrivingMessage {
    const [writer, packed, receivedAt] = storedParts(text);
    const json = Buffer.from(packed, 'base64').toString();
    const written = JSON.parse(json, library.BufferJSON.reviver) as ContactMessage;
    return new ArrivingMessage(written, writer, 'waiting', receivedAt);
  }

  /** Text of the credential. The message is in base64, so that an erasure finds the writer's addresses alone. */
  toText({ BufferJSON }: Library): string {
    const json = JSON.stringify(this.#written, BufferJSON.replacer);
    return JSON.stringify([this.#writer, Buffer.from(json).toString('base64'), this.#receivedAt]);
  }

  get networkId(): string {
    return this.#written.networkId;
  }

  /** Phone and network id of the writer, as far as they are known. */
  get from(): readonly string[] {
    return addressesIn(this.#written);
  }

  get isGivenUp(): boolean {
    return this.#gone.signal.aborted;
  }

  /** Ends the fetching of the file, after which the message is not stored without the file. @param why in words */
  giveUp(why: string): void {
    const options = { certain: true, retryAfterMs: 0 } as const;
    this.#gone.abort(new DriverError('media_unavailable', why, options));
  }

  eventOf(library: Library, socket: LibrarySocket): MessageEvent {
    const event = messageEventOf(library, socket, this.#written);
    const open = event.media?.open;
    if (event.media === null || open === undefined) return event;
    const opened: typeof open = (signal) => open(AbortSignal.any([signal, this.#gone.signal]));
    return { ...event, media: { ...event.media, open: opened } };
  }

  /** The same for the gateway to store without the file. */
  eventWithoutFile(): MessageEvent {
    const { media } = this.#written;
    return { type: 'message', ...this.#written, media: media && describedMedia(media) };
  }
}

/** When a durable message came from the network, milliseconds since the Unix epoch. @param text as `toText` gave it */
export function arrivedAt(text: string): number {
  return storedParts(text)[2];
}

type StoredParts = readonly [writer: readonly string[], packed: string, receivedAt: number];

function storedParts(text: string): StoredParts {
  // Only `toText` writes such a text.
  return JSON.parse(text) as StoredParts;
}

/** Phone and network id of a contact, as far as they are known. */
export function addressesIn({ from }: ContactMessage): readonly string[] {
  return [from.phone, from.networkId].filter((address) => address !== null);
}

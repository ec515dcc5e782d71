import { DriverError, type MessageEvent } from '../../core/contracts/driver.ts';
import { type ContactMessage, messageEventOf } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { plainPart } from './media-part.ts';

/** Whose file is on its way no more: its message is not stored without it. */
const erased = new DriverError('media_unavailable', 'the contact was erased', {
  certain: true,
  retryAfterMs: 0,
});

/** A message that is kept until the gateway has it, while its file comes or one before it. */
export class ArrivingMessage {
  /**
   * `fresh`: not durable yet. `paused`: tried again in time, or at the next connection. `left`: tried again at the next
   * connection, and nothing waits for it.
   */
  state: 'fresh' | 'waiting' | 'told' | 'paused' | 'left';
  /** How often it could not be told. */
  failures = 0;
  readonly #written: ContactMessage;
  /** The addresses that the network names its writer by. */
  readonly #writer: readonly string[];
  readonly #gone = new AbortController();

  constructor(written: ContactMessage, writer: readonly string[], state: ArrivingMessage['state']) {
    this.#written = { ...written, media: written.media && plainPart(written.media) };
    this.#writer = writer;
    this.state = state;
  }

  /** One that is durable. @param text as `toText` gave it */
  static stored(library: Library, text: string): ArrivingMessage {
    const [writer, packed] = JSON.parse(text) as [readonly string[], string];
    const json = Buffer.from(packed, 'base64').toString();
    const written = JSON.parse(json, library.BufferJSON.reviver) as ContactMessage;
    return new ArrivingMessage(written, writer, 'waiting');
  }

  /** As it is stored: packed, since an erasure looks for addresses in it, and is to find the writer's alone. */
  toText({ BufferJSON }: Library): string {
    const json = JSON.stringify(this.#written, BufferJSON.replacer);
    return JSON.stringify([this.#writer, Buffer.from(json).toString('base64')]);
  }

  /** Phone and network id of who wrote it, as far as they are known. */
  get from(): readonly string[] {
    return addressesIn(this.#written);
  }

  get isForgotten(): boolean {
    return this.#gone.signal.aborted;
  }

  /** Its writer is erased: its file comes no more. */
  forget(): void {
    this.#gone.abort(erased);
  }

  eventOf(library: Library, socket: LibrarySocket): MessageEvent {
    const event = messageEventOf(library, socket, this.#written);
    const open = event.media?.open;
    if (event.media === null || open === undefined) return event;
    const opened: typeof open = (signal) => open(AbortSignal.any([signal, this.#gone.signal]));
    return { ...event, media: { ...event.media, open: opened } };
  }
}

/** Phone and network id of a contact, as far as they are known. */
export function addressesIn({ from }: ContactMessage): readonly string[] {
  return [from.phone, from.networkId].filter((address) => address !== null);
}

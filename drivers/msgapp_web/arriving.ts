import { DriverError } from '../../core/contracts/driver.ts';
import { ArrivingMessage, addressesIn } from './arriving-message.ts';
import { keptName } from './awaited.ts';
import { errorText } from './error-text.ts';
import type { IdentityParts } from './identities.ts';
import type { ContactMessage } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { inboundMedia } from './media-part.ts';

/** Dependencies of `Arriving`. */
export interface ArrivingParts extends IdentityParts {
  readonly library: Library;
}

/** Name of the credential that lists the credentials of the messages, in order. */
export const arrivingName = 'arriving';
/** Prefix of the credentials that each keep one message. */
export const arrivingPrefix = `${arrivingName}:`;
/** Most messages that are due at once, give or take one group; beyond that, what comes waits with the network. */
const most = 200;
/** Messages that the gateway is given at once, one of each contact; the gateway has room for 64 messages. */
const atOnce = 8;
/** Pauses before a message that could not be stored is tried again, in milliseconds; then the next connection tries. */
export const retryPausesMs: readonly number[] = [1_000, 10_000, 60_000];

/**
 * Messages whose files are on their way, and what their writers sent behind them. They are kept with the credentials, in
 * one write with the keys that decrypting them has changed, so that nothing else waits until the gateway has a file.
 */
export class Arriving {
  readonly #parts: ArrivingParts;
  readonly #socket: LibrarySocket;
  /** By the names of their credentials, in the order in which they came. */
  readonly #arrivals = new Map<string, ArrivingMessage>();
  #roomMade: () => void = () => undefined;
  #over = false;

  constructor(parts: ArrivingParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
  }

  /** Goes on with what an earlier connection has left. */
  async start(): Promise<void> {
    const { library, keys } = this.#parts;
    const list = (await keys.writes.get([arrivingName])).get(arrivingName);
    // Written by `#write`, and nobody else writes under these names.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]);
    const stored = await keys.writes.get(names);
    for (const name of names) {
      const text = stored.get(name);
      if (text !== undefined) this.#arrivals.set(name, ArrivingMessage.stored(library, text));
    }
    this.#next();
  }

  /** Ends what is under way: the next connection begins it anew, unless the contact is erased before. */
  close(): void {
    this.#over = true;
    for (const arrival of this.#arrivals.values()) arrival.giveUp('the connection ended');
    this.#roomMade();
  }

  /** Resolves once there is room for a group of messages. */
  async room(): Promise<void> {
    while (!this.#over && this.#due >= most) {
      await new Promise<void>((resolve) => {
        this.#roomMade = resolve;
      });
    }
  }

  has(id: string): boolean {
    return this.#arrivals.has(nameOf(id));
  }

  /**
   * Takes a message that has a file to be fetched, or comes behind one of its contact.
   * @param writer the addresses that the network names the contact by
   * @param receivedAt when it came from the network, milliseconds since the Unix epoch
   * @returns false when the message waits for nothing, and was not taken
   */
  take(written: ContactMessage, writer: readonly string[], receivedAt: number): boolean {
    const { media, networkId } = written;
    const { library } = this.#parts;
    const hasFile = media !== null && inboundMedia(library, this.#socket, media).open !== undefined;
    const addresses = addressesIn(written);
    const isBehind = [...this.#arrivals.values()].some(
      ({ state, from }) => state !== 'left' && from.some((one) => addresses.includes(one)),
    );
    if (!hasFile && !isBehind) return false;
    const arrival = new ArrivingMessage(written, writer, 'fresh', receivedAt);
    this.#arrivals.set(nameOf(networkId), arrival);
    return true;
  }

  /** Stores what was taken since the last time; to be durable before `begin`. */
  keep(): void {
    const { library } = this.#parts;
    const fresh = this.#fresh().map(([name, one]) => [name, one.toText(library)] as const);
    if (fresh.length > 0) this.#write(new Map(fresh));
  }

  /** Begins with what was taken: the network does not have it any more. */
  begin(): void {
    for (const [, arrival] of this.#fresh()) arrival.state = 'waiting';
    this.#next();
  }

  /** Gives back what was taken: the network offers it again. */
  giveBack(): void {
    for (const [name] of this.#fresh()) this.#arrivals.delete(name);
  }

  /** Drops those whose credentials are being deleted, under way or not. */
  forget(names: readonly string[]): void {
    for (const name of names) {
      this.#arrivals.get(name)?.giveUp('the contact was erased');
      this.#remove(name);
    }
    this.#next();
  }

  /** How many are still tried in this connection. */
  get #due(): number {
    return [...this.#arrivals.values()].filter(({ state }) => state !== 'left').length;
  }

  #fresh(): readonly (readonly [string, ArrivingMessage])[] {
    return [...this.#arrivals].filter(([, { state }]) => state === 'fresh');
  }

  /** Emits the messages whose turn it is. */
  #next(): void {
    if (this.#over) return;
    if (this.#due < most) this.#roomMade();
    const emitted = [...this.#arrivals.values()].filter(({ state }) => state === 'emitted');
    let room = atOnce - emitted.length;
    const busy = new Set<string>();
    for (const [name, arrival] of this.#arrivals) {
      if (arrival.state === 'left') continue;
      const { from } = arrival;
      const isFirst = !from.some((address) => busy.has(address));
      if (isFirst && arrival.state === 'waiting' && room > 0) {
        room -= 1;
        void this.#emit(name, arrival);
      }
      for (const address of from) busy.add(address);
    }
  }

  async #emit(name: string, arrival: ArrivingMessage): Promise<void> {
    const { library, emit } = this.#parts;
    arrival.state = 'emitted';
    try {
      await emit(arrival.eventOf(library, this.#socket));
      if (!this.#over) this.#remove(name);
    } catch (error) {
      if (!this.#over && !arrival.isGivenUp) this.#failed(arrival, error);
    }
    this.#next();
  }

  #failed(arrival: ArrivingMessage, error: unknown): void {
    const { log, accountId } = this.#parts;
    log.warn(
      { accountId, networkId: arrival.networkId, error: errorText(error) },
      'a message could not be kept: it is tried again',
    );
    arrival.state = 'paused';
    // The connection has ended: the next one tries this message again.
    if (error instanceof DriverError) return;
    const pauseMs = retryPausesMs[arrival.failures];
    arrival.failures += 1;
    if (pauseMs === undefined) {
      arrival.state = 'left';
      return;
    }
    const again = (): void => {
      arrival.state = 'waiting';
      this.#next();
    };
    setTimeout(again, pauseMs).unref();
  }

  #remove(name: string): void {
    if (this.#arrivals.delete(name)) this.#write(new Map([[name, null]]));
  }

  #write(values: ReadonlyMap<string, string | null>): void {
    const names = [...this.#arrivals.keys()];
    const list = names.length === 0 ? null : JSON.stringify(names);
    this.#parts.keys.writes.set(new Map([...values, [arrivingName, list]]));
  }
}

function nameOf(id: string): string {
  return keptName(arrivingPrefix, id);
}

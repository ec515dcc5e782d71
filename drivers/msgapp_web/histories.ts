import type { proto } from 'baileys';
import { DriverError, type DriverEvent, type LeftOutKind } from '../../core/contracts/driver.ts';
import { type ArrivingParts, retryPausesMs } from './arriving.ts';
import { errorText } from './error-text.ts';
import { importedEvents } from './imports.ts';
import type { LibrarySocket } from './library.ts';

/** Dependencies of `Histories`. */
export interface HistoriesParts extends ArrivingParts {
  leftOut(kind: LeftOutKind): void;
}

type History = proto.Message.IHistorySyncNotification;

/** The credential that keeps the histories whose files are on their way. */
const storedName = 'histories';

/**
 * The phone's past, as far as it was asked for. A history in a file is kept with the credentials and acknowledged like a
 * message, then fetched: sends wait for the session with the phone, which is held until the keys of its message are stored.
 */
export class Histories {
  readonly #parts: HistoriesParts;
  readonly #socket: LibrarySocket;
  /** Encoded, by the ids of their messages, in the order in which they came. */
  #kept = new Map<string, string>();
  /** One file after the other: each is in memory as a whole. */
  #work: Promise<void> = Promise.resolve();
  readonly #over = new AbortController();

  constructor(parts: HistoriesParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
  }

  /** Goes on with what an earlier connection has left. */
  async start(): Promise<void> {
    const { library, keys } = this.#parts;
    const text = (await keys.writes.get([storedName])).get(storedName);
    // Written by `#save`, and nobody else writes under this name.
    this.#kept = new Map(text === undefined ? [] : (JSON.parse(text) as [string, string][]));
    for (const [id, encoded] of this.#kept) {
      const bytes = Buffer.from(encoded, 'base64');
      this.#fetch(id, library.proto.Message.HistorySyncNotification.decode(bytes));
    }
  }

  /** Ends a download: the next connection begins it anew. */
  close(): void {
    this.#over.abort(new Error('the connection is over'));
  }

  /** What the gateway is to store at once: nothing of a history in a file, which is kept with the credentials. */
  async *eventsOf(id: string, history: History): AsyncIterable<DriverEvent> {
    const { library, keys } = this.#parts;
    if (!keys.imports.contacts && !keys.imports.history) return;
    if (history.initialHistBootstrapInlinePayload) return yield* this.#imported(history);
    if (this.#kept.has(id)) return;
    const bytes = library.proto.Message.HistorySyncNotification.encode(history).finish();
    this.#kept.set(id, Buffer.from(bytes).toString('base64'));
    this.#save();
    this.#fetch(id, history);
  }

  async *#imported(history: History): AsyncIterable<DriverEvent> {
    const { log, accountId, leftOut } = this.#parts;
    const { signal } = this.#over;
    try {
      yield* importedEvents(this.#parts, this.#socket, history, signal);
    } catch (error) {
      if (!(error instanceof DriverError) || error.retryAfterMs !== null) throw error;
      const fields = { accountId, error: error.message };
      log.warn(fields, 'a part of the history is lost: the network does not have it');
      leftOut('unreadable');
    }
  }

  /** Hands over a history that is kept; tries again after these pauses, then the next connection does. */
  #fetch(id: string, history: History, [pauseMs, ...pauses] = retryPausesMs): void {
    const { log, accountId, emit } = this.#parts;
    const { signal } = this.#over;
    const hand = async (): Promise<void> => {
      if (signal.aborted) return;
      for await (const event of this.#imported(history)) await emit(event);
      if (signal.aborted) return;
      this.#kept.delete(id);
      this.#save();
    };
    const failed = (error: unknown): void => {
      if (signal.aborted) return;
      const fields = { accountId, error: errorText(error) };
      log.warn(fields, 'a part of the history could not be fetched: it is tried again');
      if (pauseMs === undefined) return;
      setTimeout(() => this.#fetch(id, history, pauses), pauseMs).unref();
    };
    this.#work = this.#work.then(hand).catch(failed);
  }

  #save(): void {
    const text = this.#kept.size === 0 ? null : JSON.stringify([...this.#kept]);
    this.#parts.keys.writes.set(new Map([[storedName, text]]));
  }
}

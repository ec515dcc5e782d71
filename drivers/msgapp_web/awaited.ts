import type { WAMessage, WAMessageKey } from 'baileys';
import type { DriverLog, LeftOutKind } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import type { LibrarySocket } from './library.ts';
import { timeOf } from './media-part.ts';

/** What it is made of. */
export interface AwaitedParts {
  readonly keys: AccountKeys;
  readonly log: DriverLog;
  readonly accountId: string;
  leftOut(kind: LeftOutKind): void;
}

/** What is known of a message before its content is there. */
export interface Envelope {
  readonly key: WAMessageKey;
  readonly pushName: string | null;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** The name under which they are kept. */
const storedName = 'awaited';
/** Most messages that are waited for; the oldest gives way. */
const mostAwaited = 200;
/** How long the phone is asked for a message, as the network's own programs do. */
const longestMs = 14 * 86_400_000;
/** Pause before the phone is asked again, doubled each time. */
const firstPauseMs = 15_000;
const longestPauseMs = 6 * 3_600_000;

/**
 * Messages that came without content, or with one that nobody can read: the account's phone has it and is asked until it
 * answers. They are kept with the credentials, since the network wants each acknowledged within minutes and then forgets it.
 */
export class Awaited {
  readonly #parts: AwaitedParts;
  readonly #socket: LibrarySocket;
  #envelopes = new Map<string, Envelope>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(parts: AwaitedParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
  }

  /** Goes on with what an earlier connection has left. */
  async start(): Promise<void> {
    const text = (await this.#parts.keys.writes.get([storedName])).get(storedName);
    // Written by `#save`, and nobody else writes under this name.
    const stored = text === undefined ? [] : (JSON.parse(text) as [string, Envelope][]);
    this.#envelopes = new Map(stored);
    for (const id of [...this.#envelopes.keys()]) this.#ask(id, firstPauseMs);
  }

  /** Asks no more. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  of(id: string): Envelope | undefined {
    return this.#envelopes.get(id);
  }

  /** Waits for a message's content; the library asks the phone for it first, this does later. */
  add({ key, pushName, messageTimestamp }: WAMessage): void {
    const { id } = key;
    if (!id || this.#envelopes.has(id)) return;
    const at = timeOf(messageTimestamp) / 1_000;
    this.#envelopes.set(id, { key, pushName: pushName ?? null, at });
    const [oldest] = this.#envelopes.keys();
    if (this.#envelopes.size > mostAwaited && oldest) this.giveUp(oldest);
    this.#later(id, firstPauseMs);
    this.#save();
  }

  /** Its content has come. */
  received(id: string): void {
    if (!this.#forget(id)) return;
    this.#save();
  }

  /** Its content will not come: it is lost, and said to be. */
  giveUp(id: string): void {
    if (!this.#forget(id)) return;
    const { log, accountId, leftOut } = this.#parts;
    log.warn({ accountId, networkId: id }, 'a message is lost: the phone did not hand it over');
    leftOut('unreadable');
    this.#save();
  }

  #forget(id: string): boolean {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return this.#envelopes.delete(id);
  }

  #later(id: string, pauseMs: number): void {
    const { at } = this.#envelopes.get(id) ?? { at: 0 };
    if (Date.now() - at * 1_000 > longestMs) {
      this.giveUp(id);
      return;
    }
    const timer = setTimeout(() => {
      this.#ask(id, Math.min(pauseMs * 2, longestPauseMs));
    }, pauseMs);
    timer.unref();
    this.#timers.set(id, timer);
  }

  #ask(id: string, pauseMs: number): void {
    const { key } = this.#envelopes.get(id) ?? {};
    if (key === undefined) return;
    const { remoteJid = null, participant = null } = key;
    const wanted = { remoteJid, fromMe: false, id, participant };
    const asked = this.#socket.requestPlaceholderResend(wanted);
    // A connection that breaks meanwhile asks again when it is back.
    asked.catch(() => undefined);
    this.#later(id, pauseMs);
  }

  #save(): void {
    const text = this.#envelopes.size === 0 ? null : JSON.stringify([...this.#envelopes]);
    this.#parts.keys.writes.set(new Map([[storedName, text]]));
  }
}

import { createHash } from 'node:crypto';
import type { WAMessage, WAMessageKey } from 'baileys';
import type { DriverLog, LeftOutKind } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import type { LibrarySocket } from './library.ts';
import { timeOf } from './media-part.ts';

/** Dependencies of `Awaited`. */
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
  /** When it came from the network, milliseconds since the epoch. */
  readonly receivedAt: number;
  /** When the phone is asked next, milliseconds since the epoch. */
  readonly askAt: number;
}

/** The credential that lists the names of the others, each of which keeps one message: its writer's may be erased. */
const storedName = 'awaited';
/** What the names of the others begin with. */
export const awaitedPrefix = `${storedName}:`;
/** Most messages that are waited for; the oldest gives way. */
const mostAwaited = 200;
/** How long the phone is asked for a message, as the network's own programs do. */
const longestMs = 14 * 86_400_000;
/** Pause before the phone is asked again: the message's age, within these bounds, so that it doubles each time. */
const firstPauseMs = 15_000;
const longestPauseMs = 6 * 3_600_000;
/** How many messages the phone is asked for at once, and the pause before the next of them. */
const askedAtOnce = 5;
const betweenMs = 5_000;

/**
 * Messages that came without content, or with one that nobody can read: the account's phone has it and is asked until it
 * answers. They are kept with the credentials, since the network wants each acknowledged within minutes and then forgets it.
 */
export class Awaited {
  readonly #parts: AwaitedParts;
  readonly #socket: LibrarySocket;
  #envelopes = new Map<string, Envelope>();
  /** Names of messages whose writer was erased, kept in the list of names: the phone may hand them over later. */
  readonly #erased = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  /** By `performance.now`, so that a clock that is set back does not move it. */
  #notBefore = 0;

  constructor(parts: AwaitedParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
  }

  /** Goes on with what an earlier connection has left. */
  async start(): Promise<void> {
    const { writes } = this.#parts.keys;
    const list = (await writes.get([storedName])).get(storedName);
    // Written by `#save`, and nobody else writes under these names.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]);
    const stored = await writes.get(names);
    this.#envelopes = new Map(
      names.flatMap((name) => {
        const text = stored.get(name);
        if (text === undefined) this.#erased.add(name);
        return text === undefined || this.#erased.has(name) ? [] : [storedEnvelope(text)];
      }),
    );
    this.#wait();
  }

  /** Asks no more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Waits no more for those whose credentials are being deleted. */
  forget(names: readonly string[]): void {
    for (const name of names) if (name.startsWith(awaitedPrefix)) this.#erased.add(name);
    for (const name of [...this.#erased].slice(0, -mostAwaited)) this.#erased.delete(name);
    for (const id of this.#envelopes.keys()) if (this.isErased(id)) this.received(id);
  }

  /** Whether it was waited for when its writer was erased, and has not come again since. */
  isErased(id: string): boolean {
    return this.#erased.has(nameOf(id));
  }

  of(id: string): Envelope | undefined {
    return this.#envelopes.get(id);
  }

  /** When a message came from the network, milliseconds since the epoch: now, unless its content is waited for. */
  receivedAt(id: string): number {
    return this.#envelopes.get(id)?.receivedAt ?? Date.now();
  }

  /** Waits for a message's content; the library asks the phone for it first, this does later. */
  add({ key, pushName, messageTimestamp }: WAMessage): void {
    const { id } = key;
    if (!id || this.#envelopes.has(id)) return;
    this.#erased.delete(nameOf(id));
    const at = timeOf(messageTimestamp) / 1_000;
    const receivedAt = Date.now();
    const askAt = receivedAt + firstPauseMs;
    this.#envelopes.set(id, { key, pushName: pushName ?? null, at, receivedAt, askAt });
    const [oldest] = this.#envelopes.keys();
    if (this.#envelopes.size > mostAwaited && oldest) this.giveUp(oldest);
    this.#wait();
    this.#save(id);
  }

  /** Its content has come. */
  received(id: string): void {
    if (this.#envelopes.delete(id)) this.#save(id);
  }

  /** Its content will not come: it is lost, and said to be. */
  giveUp(id: string): void {
    if (!this.#envelopes.delete(id)) return;
    const { log, accountId, leftOut } = this.#parts;
    log.warn({ accountId, networkId: id }, 'a message is lost: the phone did not hand it over');
    leftOut('unreadable');
    this.#save(id);
  }

  /** Until the next message is due. */
  #wait(): void {
    this.close();
    if (this.#envelopes.size === 0) return;
    const next = Math.min(...[...this.#envelopes.values()].map(({ askAt }) => askAt));
    const ms = Math.max(next - Date.now(), this.#notBefore - performance.now(), 0);
    this.#timer = setTimeout(() => this.#askDue(), ms);
    this.#timer.unref();
  }

  #askDue(): void {
    const now = Date.now();
    const due = [...this.#envelopes].filter(([, { askAt }]) => askAt <= now);
    for (const [id, envelope] of due.slice(0, askedAtOnce)) this.#ask(id, envelope, now);
    this.#notBefore = performance.now() + betweenMs;
    this.#wait();
  }

  #ask(id: string, envelope: Envelope, now: number): void {
    const age = now - envelope.at * 1_000;
    if (age > longestMs) {
      this.giveUp(id);
      return;
    }
    const askAt = now + Math.min(Math.max(age, firstPauseMs), longestPauseMs);
    this.#envelopes.set(id, { ...envelope, askAt });
    this.#save(id);
    const { remoteJid = null, participant = null } = envelope.key;
    const wanted = { remoteJid, fromMe: false, id, participant };
    const asked = this.#socket.requestPlaceholderResend(wanted);
    // The phone is asked again when a connection breaks meanwhile.
    asked.catch(() => undefined);
  }

  /** Writes what is known of a message, or that nothing is. */
  #save(id: string): void {
    const envelope = this.#envelopes.get(id);
    const names = [...this.#erased, ...[...this.#envelopes.keys()].map(nameOf)];
    this.#parts.keys.writes.set(
      new Map([
        [nameOf(id), envelope === undefined ? null : JSON.stringify([id, envelope])],
        [storedName, names.length === 0 ? null : JSON.stringify(names)],
      ]),
    );
  }
}

/** When a message that is waited for came from the network, milliseconds since the epoch. @param text its credential */
export function awaitedSince(text: string): number {
  return storedEnvelope(text)[1].receivedAt;
}

/** Id and envelope as `#save` has written them, and nobody else writes such a text. */
function storedEnvelope(text: string): [string, Envelope] {
  return JSON.parse(text) as [string, Envelope];
}

function nameOf(id: string): string {
  return keptName(awaitedPrefix, id);
}

/** The name under which something is kept; its id may be of any length, and is not seen in the name. */
export function keptName(prefix: string, id: string): string {
  return `${prefix}${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

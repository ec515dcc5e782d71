import { Long, type tl } from '@mtcute/core';
import type { DriverEvent, LeftOutKind, ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import { inputPeer, type People, type PersonChange } from '../people.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';

/** Messages that were sent and not read, kept in memory for one account at most. */
const mostUnread = 2_000;
/** Messages asked for at once, and pages at most, when read messages are not in memory. */
const pageSize = 100;
const mostPages = 10;

/** What an update means to the gateway. */
export interface Translated {
  readonly events: readonly DriverEvent[];
  /** Changed people: emitted and stored with the events. */
  readonly change?: PersonChange;
  /** It is no message and nothing else that the gateway takes: counted once the events are durable. */
  readonly leftOut?: LeftOutKind;
  /** Called once the events are durable. */
  readonly kept?: () => void;
}

/**
 * Sent messages that are unread. The network only says "read up to this one"; the gateway wants an event for each.
 * Messages from before this process are read from the chat, once for each contact.
 */
export class ReadMarks {
  readonly #buffer: CredentialBuffer;
  readonly #people: People;
  /** Unread messages by contact: network id and the gateway's id where this process sent it. */
  readonly #unread = new Map<number, Map<number, string | null>>();
  readonly #lookedUp = new Set<number>();
  readonly #since: () => number;
  #size = 0;

  /** @param since when the account was linked, in seconds: what was sent before is not the gateway's */
  constructor(buffer: CredentialBuffer, people: People, since: () => number) {
    this.#buffer = buffer;
    this.#people = people;
    this.#since = since;
  }

  /** A message went out. */
  sent(userId: number, id: number, reference: string | null): void {
    const unread = this.#unread.get(userId) ?? new Map<number, string | null>();
    this.#unread.set(userId, unread);
    if (!unread.has(id)) this.#size += 1;
    unread.set(id, reference ?? unread.get(id) ?? null);
    if (this.#size > mostUnread) this.#forgetOldest();
  }

  /**
   * A contact has read everything up to a message.
   * @throws when the chat has to be looked up and cannot be
   */
  async read(client: Client, userId: number, upTo: number, at: number): Promise<Translated> {
    const unread = this.#unread.get(userId) ?? new Map<number, string | null>();
    const read = new Map([...unread].filter(([id]) => id <= upTo));
    if (!this.#lookedUp.has(userId)) {
      for (const id of await this.#lookUp(client, userId, upTo)) {
        if (!read.has(id)) read.set(id, null);
      }
    }
    return {
      events: [...read]
        .sort(([one], [other]) => one - other)
        .map(([id, reference]) => receipt(id, reference, 'read', null, at)),
      kept: () => {
        this.#lookedUp.add(userId);
        for (const id of read.keys()) this.#drop(userId, id);
        this.#buffer.put(nameOf(userId), String(upTo));
      },
    };
  }

  /** Messages were deleted: those that nobody had read yet will not be read any more. */
  deleted(ids: readonly number[], at: number): Translated {
    const gone = [...this.#unread].flatMap(([userId, unread]) =>
      ids.flatMap((id) => {
        const reference = unread.get(id);
        return reference === undefined ? [] : [{ userId, id, reference }];
      }),
    );
    return {
      events: gone.map(({ id, reference }) => receipt(id, reference, 'failed', deletedUnread, at)),
      kept: () => {
        for (const { userId, id } of gone) this.#drop(userId, id);
      },
    };
  }

  async #lookUp(client: Client, userId: number, upTo: number): Promise<readonly number[]> {
    const person = await this.#people.find(userId);
    if (person === null) return [];
    const mark = Number((await this.#buffer.get([nameOf(userId)])).get(nameOf(userId)) ?? 0);
    const found: number[] = [];
    let before = upTo + 1;
    for (let page = 0; page < mostPages; page += 1) {
      const messages = await history(client, inputPeer(person), { before, after: mark });
      const recent = messages.filter((one) => one._ === 'message' && one.date >= this.#since());
      found.push(...recent.flatMap((one) => (one._ === 'message' && one.out ? one.id : [])));
      const oldest = recent.at(-1);
      if (oldest === undefined || recent.length < pageSize) break;
      before = oldest.id;
    }
    return found;
  }

  #drop(userId: number, id: number): void {
    const unread = this.#unread.get(userId);
    if (unread?.delete(id) !== true) return;
    this.#size -= 1;
    if (unread.size === 0) this.#unread.delete(userId);
  }

  /** They will be looked up when they are read. */
  #forgetOldest(): void {
    for (const [userId, unread] of this.#unread) {
      for (const id of unread.keys()) {
        this.#drop(userId, id);
        this.#lookedUp.delete(userId);
        return;
      }
    }
  }
}

const deletedUnread = 'deleted_unread: the message was deleted before the contact had read it';

/** The newest messages of a chat, newest first, between two ids that are left out. */
export async function history(
  client: Client,
  peer: tl.TypeInputPeer,
  { before = 0, after = 0 }: { readonly before?: number; readonly after?: number },
): Promise<readonly tl.TypeMessage[]> {
  const answer = await client.call({
    _: 'messages.getHistory',
    peer,
    offsetId: before,
    offsetDate: 0,
    addOffset: 0,
    limit: pageSize,
    maxId: 0,
    minId: after,
    hash: Long.ZERO,
  });
  return 'messages' in answer ? answer.messages : [];
}

function receipt(
  id: number,
  reference: string | null,
  status: 'read' | 'failed',
  error: string | null,
  at: number,
): ReceiptEvent {
  return { type: 'receipt', reference, networkId: String(id), status, error, at };
}

function nameOf(userId: number): string {
  return `read:${userId}`;
}

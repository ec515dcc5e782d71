import { Long, type tl } from '@mtcute/core';
import type { Client } from '../client.ts';
import type { People } from '../people.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';

/** Chats asked for at once, and pages at most. */
const pageSize = 100;
const mostPages = 50;

type Page = tl.messages.RawDialogs | tl.messages.RawDialogsSlice;
type Offset = Pick<tl.messages.RawGetDialogsRequest, 'offsetDate' | 'offsetId' | 'offsetPeer'>;

const start: Offset = { offsetDate: 0, offsetId: 0, offsetPeer: { _: 'inputPeerEmpty' } };

/**
 * The account's list of chats, read once for each link: a new one knows nobody outside of the address book, and the
 * network lets nobody be addressed by an id alone.
 */
export class ChatList {
  readonly #buffer: CredentialBuffer;
  readonly #people: People;
  #reading: Promise<void> | null = null;

  constructor(buffer: CredentialBuffer, people: People) {
    this.#buffer = buffer;
    this.#people = people;
  }

  /** Takes everybody of the list, unless that was done. @throws as `Client.call`; the next call begins anew */
  async takeOnce(client: Client): Promise<void> {
    this.#reading ??= this.#read(client).catch((error: unknown) => {
      this.#reading = null;
      throw error;
    });
    await this.#reading;
  }

  async #read(client: Client): Promise<void> {
    let offset: Offset | null = start;
    for (let page = 0; page < mostPages && offset !== null; page += 1) {
      const request = { _: 'messages.getDialogs', limit: pageSize, hash: Long.ZERO } as const;
      const answer = await client.call({ ...request, ...offset });
      if (answer._ === 'messages.dialogsNotModified') return;
      const changed = await this.#people.take(answer.users);
      // Others are stored where their events are emitted.
      this.#people.keep(
        changed.filter(({ person, before }) => before === undefined && !person.contact),
      );
      // An erasure finds people by what is stored of them.
      await this.#buffer.write();
      offset = offsetAfter(answer);
    }
  }
}

/** Where the next page begins; null: this was the last. */
function offsetAfter(page: Page): Offset | null {
  const last = page.dialogs.at(-1);
  if (page._ === 'messages.dialogs' || last === undefined) return null;
  const top = page.messages.find(
    (one) =>
      one.id === last.topMessage && one._ !== 'messageEmpty' && isSame(one.peerId, last.peer),
  );
  const offsetDate = top === undefined || top._ === 'messageEmpty' ? 0 : top.date;
  return { offsetDate, offsetId: last.topMessage, offsetPeer: inputOf(last.peer, page) };
}

function isSame(one: tl.TypePeer, other: tl.TypePeer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function inputOf(peer: tl.TypePeer, { users, chats }: Page): tl.TypeInputPeer {
  if (peer._ === 'peerChat') return { _: 'inputPeerChat', chatId: peer.chatId };
  if (peer._ === 'peerUser') {
    const user = users.find(({ id }) => id === peer.userId);
    const accessHash = user?._ === 'user' ? (user.accessHash ?? Long.ZERO) : Long.ZERO;
    return { _: 'inputPeerUser', userId: peer.userId, accessHash };
  }
  const chat = chats.find(({ id }) => id === peer.channelId);
  const accessHash = chat !== undefined && 'accessHash' in chat ? chat.accessHash : undefined;
  return { _: 'inputPeerChannel', channelId: peer.channelId, accessHash: accessHash ?? Long.ZERO };
}

import type { tl } from '@mtcute/core';
import type { DriverContact, DriverLog } from '../../../core/contracts/driver.ts';
import { contactOf, fullName, type People, phoneOf } from '../people.ts';
import type { Progress } from '../progress.ts';
import type { Wire } from '../wire.ts';
import { inboundMedia } from './inbound-media.ts';
import type { ReadMarks, Translated } from './read-marks.ts';
import { isOfChannel } from './sequence.ts';

/** The network's own account: it sends login codes, which are nobody else's to read. */
const networkItself = 777_000;

/** A message whose sender was not named with it; the network names the senders of what it is asked for. */
export class UnknownSender extends Error {}

/** What a translator works with. */
export interface TranslatorParts {
  readonly wire: Wire;
  readonly people: People;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  readonly log: DriverLog;
  readonly accountId: string;
  /** The address book or the account's settings changed in a way that has to be asked for. */
  asked(what: 'contacts' | 'settings'): void;
  /** Called with each message of a group or a channel. */
  leftOut(): void;
}

const nothing: Translated = { events: [] };

/** Says in the words of the driver contract what the network's updates mean. */
export class Translator {
  readonly #parts: TranslatorParts;

  constructor(parts: TranslatorParts) {
    this.#parts = parts;
  }

  /**
   * @param date seconds since the Unix epoch
   * @param live whether a sender who is not known can be asked for
   * @throws UnknownSender when live
   */
  async update(update: tl.TypeUpdate, date: number, live: boolean): Promise<Translated> {
    const { wire, marks } = this.#parts;
    if (isOfChannel(update)) {
      if (update._ === 'updateNewChannelMessage') this.#parts.leftOut();
      return nothing;
    }
    switch (update._) {
      case 'updateNewMessage':
        return await this.message(update.message, live);
      case 'updateReadHistoryOutbox':
        if (update.peer._ !== 'peerUser') return nothing;
        return await marks.read(wire, update.peer.userId, update.maxId, date * 1000);
      case 'updateDeleteMessages':
        return marks.deleted(update.messages, date * 1000);
      case 'updateMessageID':
        this.learnSent([update], date);
        return nothing;
      case 'updateUserName': {
        const name = fullName(update.firstName, update.lastName);
        return await this.#changed(update.userId, name === null ? {} : { name });
      }
      case 'updateUserPhone':
        return await this.#changed(update.userId, { phone: phoneOf(update.phone) });
      case 'updateContactsReset':
        this.#parts.asked('contacts');
        return nothing;
      case 'updateConfig':
        this.#parts.asked('settings');
        return nothing;
      default:
        return nothing;
    }
  }

  /** Takes which messages the network has by which random id. */
  learnSent(updates: readonly tl.TypeUpdate[], date: number): void {
    for (const update of updates) {
      if (update._ !== 'updateMessageID') continue;
      this.#parts.progress.sent(update.randomId.toString(), { id: update.id, at: date * 1000 });
    }
  }

  /** A message of the common sequence, received or sent. @throws UnknownSender when live */
  async message(message: tl.TypeMessage, live: boolean): Promise<Translated> {
    const { wire, marks, progress, leftOut } = this.#parts;
    if (message._ !== 'message') return nothing;
    if (message.peerId._ !== 'peerUser') {
      leftOut();
      return nothing;
    }
    const { userId } = message.peerId;
    if (message.out === true) {
      // Another device's messages are not the gateway's.
      if (progress.knows(message.id)) marks.sent(userId, message.id, null);
      return nothing;
    }
    if (userId === networkItself) return nothing;
    return {
      events: [
        {
          type: 'message',
          networkId: String(message.id),
          from: await this.#sender(userId, live),
          text: message.message,
          media: inboundMedia(wire, message.media),
          at: message.date * 1000,
        },
      ],
    };
  }

  async #sender(userId: number, live: boolean): Promise<DriverContact> {
    const person = await this.#parts.people.find(userId);
    if (person !== null) return contactOf(person);
    if (live) throw new UnknownSender();
    return { phone: null, networkId: String(userId), name: null };
  }

  async #changed(
    userId: number,
    change: { phone?: string | null; name?: string | null },
  ): Promise<Translated> {
    const person = await this.#parts.people.change(userId, change);
    return person === null ? nothing : { events: [], person };
  }
}

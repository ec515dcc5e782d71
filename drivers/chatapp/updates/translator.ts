import type { tl } from '@mtcute/core';
import type { DriverContact, LeftOutKind } from '../../../core/contracts/driver.ts';
import type { Client } from '../client.ts';
import type { NamedWaits } from '../named-waits.ts';
import type { People } from '../people.ts';
import { e164Of, fullName, type Person, personContact } from '../person.ts';
import type { Progress } from '../progress.ts';
import { attachmentOf } from './inbound-media.ts';
import { giftTextOf, inboundTextOf } from './inbound-text.ts';
import type { ReadMarks } from './read-marks.ts';
import { isOfChannel } from './sequence.ts';
import type { Translated } from './translated.ts';

/** The network's own account: it sends login codes, which are nobody else's to read. */
const networkItself = 777_000;

/** A message whose sender was not named with it; the network names the senders of what it is asked for. */
export class UnknownSender extends Error {}

/** Dependencies of a translator. */
export interface TranslatorParts {
  readonly client: Client;
  readonly people: People;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  readonly waits: NamedWaits;
  /** Called when the address book or the account's settings have to be read again. */
  asked(what: 'contacts' | 'settings'): void;
}

const nothing: Translated = { events: [] };

/** Updates that say something of a message, a call or a story, and bring no message. */
const leftOutUpdates: Readonly<Record<string, LeftOutKind>> = {
  updateNewChannelMessage: 'group',
  updateEditMessage: 'edit',
  updateMessageReactions: 'reaction',
  updateNewStoryReaction: 'reaction',
  updateStory: 'status_post',
  updateServiceNotification: 'protocol',
};

/** Service messages that report a call. */
const calls: ReadonlySet<string> = new Set<tl.TypeMessageAction['_']>([
  'messageActionPhoneCall',
  'messageActionConferenceCall',
  'messageActionGroupCall',
]);

/** Translates updates of the network into events of the driver contract. */
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
    const { client, marks } = this.#parts;
    const left = leftOutUpdates[update._];
    if (left !== undefined) return leftOut(left);
    if (isOfChannel(update)) return nothing;
    switch (update._) {
      case 'updateNewMessage':
        return await this.message(update.message, live);
      case 'updateReadHistoryOutbox':
        if (update.peer._ !== 'peerUser') return nothing;
        return await marks.read(client, {
          userId: update.peer.userId,
          upTo: update.maxId,
          at: date * 1000,
        });
      case 'updateDeleteMessages':
        marks.deleted(update.messages);
        // Without ids it only advances the sequence.
        return update.messages.length === 0 ? nothing : leftOut('deletion');
      case 'updateMessageID':
        this.learnSent([update], date);
        return nothing;
      case 'updateUserName': {
        const { firstName, lastName, usernames } = update;
        const name = fullName(firstName, lastName) ?? usernames[0]?.username ?? null;
        return await this.#changed(update.userId, name === null ? {} : { name });
      }
      case 'updateUserPhone':
        return await this.#changed(update.userId, { phone: e164Of(update.phone) });
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
    const { client, people, marks, progress, waits } = this.#parts;
    if (message._ === 'messageEmpty') return nothing;
    if (message.peerId._ !== 'peerUser') return leftOut('group');
    const gift = message._ === 'messageService' ? giftTextOf(message.action) : null;
    if (message._ === 'messageService' && gift === null) {
      return leftOut(calls.has(message.action._) ? 'call' : 'protocol');
    }
    const { userId } = message.peerId;
    // Notes to self, forwards among them, come without `out`.
    if (message.out === true || userId === progress.ownId) {
      // Another device's messages are not the gateway's.
      if (progress.knows(message.id)) marks.sent(userId, message.id, null);
      return nothing;
    }
    if (userId === networkItself) return leftOut('protocol');
    const media = message._ === 'message' ? attachmentOf({ client, waits }, message.media) : null;
    const from = await this.#sender(userId, live);
    const change = people.meet(userId);
    return {
      ...(change === null ? {} : { change }),
      events: [
        {
          type: 'message',
          networkId: progress.networkIdOf(message.id),
          from,
          text: message._ === 'message' ? inboundTextOf(message, media !== null) : (gift ?? ''),
          media,
          at: message.date * 1000,
        },
      ],
    };
  }

  async #sender(userId: number, live: boolean): Promise<DriverContact> {
    const person = await this.#parts.people.find(userId);
    if (person !== null) return personContact(person);
    if (live) throw new UnknownSender();
    return { phone: null, networkId: String(userId), name: null };
  }

  async #changed(userId: number, change: Partial<Person>): Promise<Translated> {
    const changed = await this.#parts.people.change(userId, change);
    return changed === null ? nothing : { events: [], change: changed };
  }
}

function leftOut(kind: LeftOutKind): Translated {
  return { events: [], leftOut: kind };
}

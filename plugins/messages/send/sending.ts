import { addressesOf, type ChannelDrivers } from '../../../core/contact-address.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { SendDecision, SendInput, SendRules } from './input.ts';
import { type AskSend, sendQuestion } from './question.ts';
import { type BodyParts, checkedSend, makeAskSend, makeSend, type Send } from './service.ts';

/** Dependencies of sending. */
export interface SendingParts {
  readonly read: Storage['read'];
  readonly clock: Pick<Clock, 'now'>;
  readonly channels: ChannelDrivers;
  readonly rules: SendRules;
  /** The accept lane. */
  accept(send: SendInput): Promise<SendDecision>;
  /** Media may be sent from an address without TLS. */
  readonly allowHttp: boolean;
  /** `messages.max_text` */
  readonly maxText: number;
}

/** The ways in which a message is accepted. */
export interface Sending {
  /** For bodies that their schema has validated. */
  readonly send: Send;
  /** Puts such a body into words for a person. */
  readonly ask: AskSend;
  /** For bodies of other plugins. */
  readonly checked: Send;
}

/** Makes the ways in which a message is accepted, once for each storage. */
export function makeSending(parts: SendingParts): Sending {
  const { read, channels, accept, allowHttp, maxText } = parts;
  const bodies: BodyParts = {
    allowHttp,
    addresses: (text) => addressesOf(channels, text),
    async isKnown(tenantId, contactId, accountIds) {
      const contact = await read.contacts.find(tenantId, contactId);
      const ids = contact === null ? [] : [contact.id];
      return (await read.threads.knownTo(ids, accountIds)).size > 0;
    },
  };
  const send = makeSend(accept, bodies);
  const ask = makeAskSend((input) => sendQuestion(parts, input), bodies);
  return { send, ask, checked: checkedSend(send, maxText) };
}

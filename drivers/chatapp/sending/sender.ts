import type { Long, tl } from '@mtcute/core';
import {
  type ContactAddress,
  DriverError,
  type OutboundMessage,
  type Port,
  type Sent,
} from '../../../core/contracts/driver.ts';
import { notConnected } from '../../../core/contracts/driver-error.ts';
import { atMost } from '../../../core/waiting.ts';
import type { AccountCheck } from '../account-check.ts';
import type { Client } from '../client.ts';
import type { NamedWaits } from '../named-waits.ts';
import type { People } from '../people.ts';
import { inputPeer, type Person } from '../person.ts';
import type { Progress, SentMessage } from '../progress.ts';
import { randomIdOf } from '../random-id.ts';
import { isRpcErrorNamed, loggableError, meaningOf } from '../rpc-errors.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import type { Timing } from '../timing.ts';
import type { ReadMarks } from '../updates/read-marks.ts';
import type { UpdateFollower } from '../updates/update-follower.ts';
import type { ChatList } from './chat-list.ts';
import { isOwnFault, notNamed, sendFailure, sessionEnded, stopped } from './failure.ts';
import { isNotPhoto, refuseInsideWait, upload } from './outbound-media.ts';
import { recipientOf } from './recipient.ts';
import { recover } from './recover.ts';
import { takenIn } from './taken.ts';

/** Dependencies of a sender. */
export interface SenderParts {
  readonly buffer: CredentialBuffer;
  readonly client: Client;
  readonly port: Port;
  readonly people: People;
  readonly chatList: ChatList;
  readonly waits: NamedWaits;
  readonly progress: Progress;
  readonly marks: ReadMarks;
  readonly updates: UpdateFollower;
  readonly accountCheck: AccountCheck;
  readonly timing: Timing;
}

/** The method that shows typing. */
const typingMethod = 'messages.setTyping';

type Request = tl.messages.RawSendMessageRequest | tl.messages.RawSendMediaRequest;

/** The request to the network, and the one for when the network refuses the photo; null: none. */
interface Handover {
  readonly request: Request;
  readonly asFile: Request | null;
}

/** Whether a send has begun to hand its message over. */
interface Handing {
  isBegun: boolean;
}

/** Sends the messages of one account over one client. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #underWay = new Set<Promise<Sent>>();
  #ended: 'logged_out' | 'replaced' | null = null;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** As `Session.send`. @throws DriverError */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (this.#ended !== null) throw sessionEnded(this.#ended);
    const sending = this.#send(message, signal);
    this.#underWay.add(sending);
    try {
      return await sending;
    } finally {
      this.#underWay.delete(sending);
    }
  }

  /** Shows typing to a known contact, unless the network asks to wait with it; the message that follows ends it. */
  async typing({ networkId }: ContactAddress): Promise<void> {
    const { client, people, waits } = this.#parts;
    if (waits.leftMs(typingMethod) > 0) return;
    const person = networkId === null ? null : await people.find(Number(networkId));
    if (person === null) return;
    const action = { _: 'sendMessageTypingAction' } as const;
    try {
      await client.call({ _: typingMethod, peer: inputPeer(person), action });
    } catch (error) {
      waits.note(typingMethod, error);
      throw error;
    }
  }

  /**
   * Takes no more messages: the session is gone.
   * @returns resolves once the sends under way were answered, or `timing.lastAnswers` is over. The network refuses them
   *   too; cut off earlier, their outcome would be uncertain.
   */
  async end(reason: 'logged_out' | 'replaced'): Promise<void> {
    this.#ended = reason;
    await atMost(this.#parts.timing.lastAnswers, Promise.allSettled(this.#underWay));
  }

  async #send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    const { client, marks, progress, accountCheck } = this.#parts;
    const { unanswered } = marks;
    const { reference, attempt } = message;
    if (signal.aborted || client.signal.aborted) throw notConnected();
    if (accountCheck.isStopped) throw stopped();
    unanswered.begun(reference);
    const handing: Handing = { isBegun: false };
    try {
      const person = await recipientOf(this.#parts, message.to, signal);
      unanswered.found(reference, person.id);
      const taken = await this.#taken(message, person, handing, signal);
      unanswered.ended(reference, false);
      if (taken === null) return this.#nameless(message);
      marks.sent(person.id, taken.id, reference);
      return { networkId: progress.networkIdOf(taken.id), at: taken.at };
    } catch (error) {
      const failure = await this.#failureOf(error, message, handing, signal);
      // What an earlier try handed over may be on the network whatever became of this one.
      unanswered.ended(reference, !failure.certain || attempt > 1);
      throw failure;
    }
  }

  /** Why a send did not work out, with a line in the log for a failure of our own. */
  async #failureOf(
    error: unknown,
    { reference }: OutboundMessage,
    { isBegun }: Handing,
    signal: AbortSignal,
  ): Promise<DriverError> {
    const { client, port, accountCheck } = this.#parts;
    if (isOwnFault(error)) {
      // The end of a session is none.
      if (!isBegun && (signal.aborted || client.signal.aborted)) return notConnected(error);
      const fields = { message: reference, error: loggableError(error) };
      port.log.warn(fields, 'a message was not sent for a reason of our own');
    }
    const isLimited = meaningOf(error)?.kind === 'new_contacts';
    return sendFailure(error, isBegun, isLimited ? await accountCheck.newContactsOnly() : null);
  }

  async #taken(
    message: OutboundMessage,
    person: Person,
    handing: Handing,
    signal: AbortSignal,
  ): Promise<SentMessage | null> {
    const { progress } = this.#parts;
    const randomId = randomIdOf(message.reference);
    const before = message.attempt > 1 ? progress.find(randomId.toString()) : null;
    handing.isBegun = before !== null;
    if (before !== null) return before;
    const handover = await this.#handover(message, person, randomId, signal);
    handing.isBegun = true;
    try {
      return await this.#handEither(handover, person, message.reference, signal);
    } catch (error) {
      if (!isRpcErrorNamed(error, 'RANDOM_ID_DUPLICATE')) throw error;
      return await recover(this.#parts, message, person, randomId).catch((cause: unknown) => {
        throw isOwnFault(cause) ? cause : notNamed(cause);
      });
    }
  }

  /** Sent for certain, but under an unknown id: no receipt will be matched to it. */
  #nameless({ reference }: OutboundMessage): Sent {
    this.#parts.port.log.warn({ message: reference }, 'the network does not name a message it has');
    return { networkId: `random:${randomIdOf(reference)}`, at: Date.now() };
  }

  /** A picture that is no photo to the network goes as a file. */
  async #handEither(
    { request, asFile }: Handover,
    person: Person,
    reference: string,
    signal: AbortSignal,
  ): Promise<SentMessage> {
    try {
      return await this.#hand(request, person, reference, signal);
    } catch (error) {
      if (asFile === null || !isNotPhoto(error)) throw error;
      return await this.#hand(asFile, person, reference, signal);
    }
  }

  async #hand(
    request: Request,
    person: Person,
    reference: string,
    signal: AbortSignal,
  ): Promise<SentMessage> {
    const { client, updates, progress, marks, timing } = this.#parts;
    const answer = await client.call(request, { signal, within: timing.send });
    const taken = takenIn(answer, request.randomId);
    if (taken === null) {
      throw new DriverError('no_answer', 'the network did not say which message it took', {
        certain: false,
        retryAfterMs: 0,
        concerns: 'contact',
      });
    }
    progress.sent(request.randomId.toString(), taken);
    // Noted before the sequence advances: a contact may have read it already.
    marks.sent(person.id, taken.id, reference);
    updates.push(answer);
    return taken;
  }

  async #handover(
    { text, media, reference }: OutboundMessage,
    person: Person,
    randomId: Long,
    signal: AbortSignal,
  ): Promise<Handover> {
    const { waits, port, timing } = this.#parts;
    const peer = inputPeer(person);
    if (media === null)
      return {
        request: { _: 'messages.sendMessage', peer, message: text, randomId },
        asFile: null,
      };
    refuseInsideWait(waits);
    const file = await port.fetchMedia(media, signal);
    port.log.debug({ message: reference, size: file.size }, 'uploading media');
    const uploaded = await upload(this.#parts, file, { signal, within: timing.upload });
    const request = { _: 'messages.sendMedia', peer, message: text, randomId } as const;
    return {
      request: { ...request, media: uploaded.media },
      asFile: uploaded.asFile && { ...request, media: uploaded.asFile },
    };
  }
}

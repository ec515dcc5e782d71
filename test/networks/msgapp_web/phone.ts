import type { MeasuredSends } from '../measured-sends.ts';
import type { AddressBook } from './address-book.ts';
import { Companion } from './companion.ts';
import type { Endpoint } from './endpoint.ts';
import { failure, server, streamError } from './stanzas.ts';

/** What a contact was shown. */
export interface ShownMessage {
  readonly networkId: string;
  readonly to: string;
  /** The address that it was sent to. */
  readonly address: string;
  readonly text: string;
  /** How many of the contact's devices it was encrypted for. */
  readonly devices: number;
  /** When it came first, milliseconds since the epoch. */
  readonly at: number;
  /** Null when there was none. */
  readonly media: {
    readonly kind: string;
    readonly mimeType: string;
    readonly bytes: string;
  } | null;
  /** How often it came; more than once only when it was repeated. */
  times: number;
}

/** A phone's past, handed over to a device that is newly linked. */
export interface Past {
  /** `phone` is a number, or the opaque address of somebody who hides it; so is `from`. */
  readonly contacts: readonly { readonly phone: string; readonly name: string }[];
  /** The phone hands over nothing of it. */
  readonly isWithheld?: boolean;
  /** It is fetched from the network's media host; else it comes within the message. */
  readonly inFile?: boolean;
  /** What people call themselves, contacts or not. */
  readonly pushNames?: readonly { readonly phone: string; readonly name: string }[];
  readonly history: readonly {
    readonly from: string;
    readonly text: string;
    readonly at: number;
  }[];
  /** Where the network's media host keeps the history, in place of the message about it; the key in base64. */
  readonly kept?: { readonly directPath: string; readonly mediaKey: string };
}

/** Somebody's phone: the owner's side of an account. */
export class Phone {
  readonly number: string;
  readonly owner: Endpoint;
  readonly companions = new Map<number, Companion>();
  /** What the contacts were shown, in order. */
  readonly shown = new Map<string, ShownMessage>();
  /** To whom the account has shown that it is typing, in order. */
  readonly typed: string[] = [];
  /** Whom the account has talked with. */
  readonly chats = new Set<string>();
  /** What came before any device was linked. */
  readonly early: ((companion: Companion) => Promise<void>)[] = [];
  past: Past = { contacts: [], history: [] };
  /** Null: empty, and no key was ever made. */
  addressBook: AddressBook | null = null;
  /** What the phone answers a device that asks for a message without content: the phone may be switched off, or late. */
  resends: 'content' | 'nothing' | 'off' | 'late' = 'content';
  /** Answers that wait until the phone is late no more. */
  readonly lateAnswers: (() => Promise<void>)[] = [];
  sends: 'accept' | 'refuse' | 'hold' = 'accept';
  reachable = true;
  /** The code that every login of a device is refused with; null: none. */
  refusal: string | null = null;
  /** New contacts cannot be written to, until then (milliseconds since the epoch). */
  lockedUntil: number | null = null;
  /** The network's quota of new contacts is used up, until then (milliseconds since the epoch). */
  quotaEndsAt: number | null = null;
  /** Messages to addresses of this kind are refused, as if to somebody new. */
  refusedAddress: 'phone' | 'hidden' | 'both' | null = null;
  /** By contact: what proves that it has written. Null: nobody has to prove it. */
  tokens: Map<string, Buffer> | null = null;
  /** No query is answered: the connection is open and dead. */
  deaf = false;
  /** No read of the address book is answered. */
  holdsAddressBook = false;
  /** How many questions whose number somebody has are refused. */
  refusedLookUps = 0;
  /** The error number with which they are. */
  lookUpError = '503';
  /** Which of the next questions where media are kept are refused. */
  refusedMediaHosts: boolean[] = [];
  /** The error number with which they are. */
  mediaHostError = '503';
  /** A device that leaves is cut off in place of an answer. */
  cutsLeavers = false;
  /** The error number with which a pairing code is refused; null: it is taken. */
  codeError: string | null = null;
  /** Cuts off a device that it has just linked. */
  breaksLinks = false;
  /** Null: sends are read and answered as they come. */
  measured: MeasuredSends | null = null;
  /** Receipts follow each message by themselves. */
  receipts: readonly ('delivered' | 'read')[] = [];
  #lastDevice = 0;

  constructor(owner: Endpoint) {
    if (owner.phone === null) throw new Error('an account has a phone number');
    this.number = owner.phone;
    this.owner = owner;
  }

  /** The devices that are linked now, the oldest first. */
  get linked(): readonly Companion[] {
    return [...this.companions.values()].filter(({ state }) => state === 'linked');
  }

  /** The oldest device that is linked now; null when none is. */
  get companion(): Companion | null {
    return this.linked[0] ?? null;
  }

  /** Links a device. @param beside whether an older one stays linked; else its place is taken */
  newDevice(beside: boolean): number {
    if (!beside) this.replace();
    this.#lastDevice += 1;
    const device = this.#lastDevice;
    const user = this.number.replace('+', '');
    this.companions.set(device, new Companion(`${user}:${device}@${server}`));
    return device;
  }

  /** Another session takes the place of the linked one. */
  replace(): void {
    const { companion } = this;
    if (companion === null) return;
    companion.state = 'replaced';
    companion.wire?.finish(replaced());
  }

  /** The owner takes a device off the list. */
  unlink(companion: Companion | null): void {
    if (companion === null) return;
    companion.state = 'unlinked';
    companion.wire?.finish(streamError('401', [conflict('device_removed')]));
  }

  /** The network refuses the account's devices, with this code. */
  refuse(code: string): void {
    this.refusal = code;
    this.companion?.wire?.finish(failure(code));
  }
}

/** What a device hears whose place was taken. */
export function replaced() {
  return streamError('440', [conflict('replaced')]);
}

function conflict(type: string) {
  return { tag: 'conflict', attrs: { type } };
}

import { randomBytes, randomInt } from 'node:crypto';
import type { MeasuredSends } from '../../../networks/measured-sends.ts';
import type { TlObject } from './tl.ts';

/** Somebody on the network. */
export interface Person {
  readonly id: number;
  phone: string;
  readonly accessHash: bigint;
  name: string;
  /** Shows nobody the phone. */
  isHidden?: boolean;
}

/** A message in an account's box. */
export interface BoxMessage {
  readonly id: number;
  readonly peer: number;
  readonly out: boolean;
  readonly text: string;
  readonly date: number;
  readonly media: 'photo' | 'document' | null;
  /** Name of the stored file. */
  readonly file: string | null;
  /** The data center that keeps it, when it is not the one that clients begin with. */
  readonly dc?: number;
  /** What it carries besides, as the protocol has it. */
  readonly attached?: TlObject;
  readonly randomId: string | null;
  /** Of the network itself, about the chat. */
  readonly isService?: boolean;
}

/** One step of an account's update sequence. */
export interface Step {
  readonly pts: number;
  readonly what:
    | { readonly type: 'message'; readonly id: number }
    | { readonly type: 'read'; readonly peer: number; readonly upTo: number }
    | { readonly type: 'deleted'; readonly ids: readonly number[] }
    | { readonly type: 'group'; readonly text: string; readonly id: number }
    | { readonly type: 'other'; readonly update: TlObject };
}

/** What an account's owner and its contacts see, and how the network treats the account. */
export class Subscriber {
  readonly person: Person;
  /** Of this account's address book: ids, and what they are called. */
  readonly contacts = new Map<number, string>();
  readonly messages: BoxMessage[] = [];
  readonly steps: Step[] = [];
  readonly byRandomId = new Map<string, number>();
  /** How often a message was handed in with this random id. */
  readonly handedIn = new Map<string, number>();
  /** People who wrote to the account, or were written to: not new to it. */
  readonly known = new Set<number>();
  /** How often its sessions have called each method. */
  readonly calls = new Map<string, number>();
  /** Who is let in with this number: itself, or another's account. */
  letsIn: Subscriber = this;
  /** Nobody has signed up with the number yet. */
  isVacant = false;
  password: string | null = null;
  code: string | null = null;
  /** Where its login codes go, as the network writes it; null: to the owner's app. */
  email: string | null = null;
  codeHash: string | null = null;
  treatment: 'accept' | 'refuse' | 'hold' | 'delay' | 'pause' = 'accept';
  /** Null: sends are answered as they come. */
  measured: MeasuredSends | null = null;
  /** Contacts read at once what they get. */
  readsAtOnce = false;
  banned = false;
  frozenUntil: number | null = null;
  limited = false;
  /** Calls of these methods are told to wait so many seconds, until this time. */
  floodUntil = 0;
  floodMethods: readonly string[] = [];
  #lastId = 0;

  constructor(person: Person) {
    this.person = person;
  }

  get pts(): number {
    return 1 + this.steps.length;
  }

  /** A new login code. */
  newCode(): { readonly code: string; readonly hash: string } {
    this.code = String(randomInt(10_000, 100_000));
    this.codeHash = randomBytes(8).toString('hex');
    return { code: this.code, hash: this.codeHash };
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Puts a message into the box; the same one again is only told again. */
  add(message: BoxMessage): Step {
    if (!this.messages.some(({ id }) => id === message.id)) this.messages.push(message);
    this.known.add(message.peer);
    return this.step({ type: 'message', id: message.id });
  }

  step(what: Step['what']): Step {
    const step = { pts: this.pts + 1, what };
    this.steps.push(step);
    return step;
  }

  isDeleted(id: number): boolean {
    return this.steps.some(({ what }) => what.type === 'deleted' && what.ids.includes(id));
  }

  message(id: number): BoxMessage | undefined {
    return this.messages.find((one) => one.id === id);
  }
}

/** Seconds since the Unix epoch, as the network counts. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** An update that goes alone. */
export function short(update: TlObject): TlObject {
  return { _: 'updateShort', update, date: now() };
}

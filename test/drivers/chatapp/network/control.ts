import { randomBytes } from 'node:crypto';
import { clockNow } from '../../../bench/clock.ts';
import type { LogIn } from '../../../networks/log-ins.ts';
import {
  type MeasuredSend,
  MeasuredSends,
  type Measuring,
} from '../../../networks/measured-sends.ts';
import type { Network, SessionKey } from './network.ts';
import { dataCenter, fileBytes, otherDataCenter, storeFile } from './objects.ts';
import { type BoxMessage, now, type Subscriber } from './subscriber.ts';
import type { TlObject } from './tl.ts';

/** What reached a contact. */
export interface Reached {
  readonly networkId: string;
  readonly to: string;
  readonly text: string;
  /** How often the same message was handed in. */
  readonly attempts: number;
  readonly media: string | null;
  /** Of the file, in bytes. */
  readonly size: number;
}

/** How an account is to be. */
export interface Settings {
  readonly password?: string | null;
  /** Where the login codes go; null: to the owner's app. */
  readonly email?: string | null;
  readonly contacts?: readonly { readonly phone: string; readonly name: string }[];
  readonly sends?: 'accept' | 'refuse' | 'hold' | 'delay' | 'pause';
  readonly readsAtOnce?: boolean;
  readonly banned?: boolean;
  /** When a frozen account is deleted, seconds since the Unix epoch; null: it is not frozen. */
  readonly frozenUntil?: number | null;
  readonly limited?: boolean;
  /** Nobody has signed up with the number. */
  readonly vacant?: boolean;
  /** The number whose account is let in with this one. */
  readonly letsIn?: string;
  /** The number that the account has now; the test goes on to name it by the old one. */
  readonly movedTo?: string;
}

/** What a contact writes. */
export interface Written {
  readonly from: string;
  readonly name?: string;
  readonly text: string;
  readonly networkId?: string;
  readonly media?: 'photo' | 'document';
  /** Any media, as the protocol has it. */
  readonly attached?: TlObject;
  /** base64 of the file. */
  readonly bytes?: string;
  /** The file is kept in the other data center. */
  readonly elsewhere?: boolean;
}

/** A number and a session key that the network knows as logged in. */
export interface Provisioned {
  readonly phone: string;
  /** base64. */
  readonly key: string;
}

/**
 * The hand that plays the owners of the phones and their contacts. Every method takes and answers JSON, so that
 * a test in another process can play too; accounts are named by their number.
 */
export class Control {
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  /** Makes an account or changes it. */
  put(phone: string, settings: Settings): void {
    const subscriber = this.#network.subscriber(phone);
    const { password, contacts, sends, readsAtOnce, banned, frozenUntil, limited } = settings;
    const { vacant, letsIn, movedTo, email } = settings;
    if (email !== undefined) subscriber.email = email;
    if (vacant !== undefined) subscriber.isVacant = vacant;
    if (letsIn !== undefined) subscriber.letsIn = this.#network.subscriber(letsIn);
    if (movedTo !== undefined) subscriber.person.phone = movedTo;
    if (password !== undefined) subscriber.password = password;
    if (sends !== undefined) subscriber.treatment = sends;
    if (readsAtOnce !== undefined) subscriber.readsAtOnce = readsAtOnce;
    if (banned !== undefined) subscriber.banned = banned;
    if (limited !== undefined) subscriber.limited = limited;
    if (frozenUntil !== undefined) {
      subscriber.frozenUntil = frozenUntil;
      this.#network.tell(this.#network.connectionsOf(subscriber), { _: 'updateConfig' });
    }
    if (contacts === undefined) return;
    for (const { phone: number, name } of contacts) {
      subscriber.contacts.set(this.#network.person(number, name).id, name);
    }
    this.#network.tell(this.#network.connectionsOf(subscriber), { _: 'updateContactsReset' });
  }

  /** The login code that the owner reads. */
  code(phone: string): string {
    return this.#subscriber(phone).code ?? '';
  }

  /** The network's id of a person. */
  idOf(phone: string): string {
    return String(this.#network.person(phone).id);
  }

  /** The owner deletes the account, and signs up anew with the same number. */
  startOver(phone: string): void {
    this.#network.people.delete(this.#subscriber(phone).person.id);
    this.#network.subscribers.delete(phone);
    this.#network.subscriber(phone);
  }

  /** The login code that was sent can no longer be handed in. */
  expireCode(phone: string): void {
    this.#subscriber(phone).codeHash = null;
  }

  /** Calls of a method are refused: so many of them, or all. */
  refuse(method: string, code: number, name: string, times = Number.POSITIVE_INFINITY): void {
    this.#network.refusals.set(method, { code, name, left: times });
  }

  /** Calls of a method are never answered, or answered again. */
  hold(method: string, held = true): void {
    if (held) this.#network.held.add(method);
    else this.#network.held.delete(method);
  }

  /** Calls of a method are carried out, and their answers lost. */
  loseAnswers(method: string): void {
    this.#network.unanswered.add(method);
  }

  /** The server turns away every new connection, or no longer. */
  setCrowded(crowded: boolean): void {
    this.#network.crowded = crowded ? [dataCenter, otherDataCenter] : [];
    if (crowded) for (const connection of this.#network.connections) connection.cut();
  }

  /** The other data center turns away every new connection, or no longer. */
  setCrowdedElsewhere(crowded: boolean): void {
    this.#network.crowded = crowded ? [otherDataCenter] : [];
  }

  /** How often the account's sessions have called each method. */
  calls(phone: string): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#subscriber(phone).calls);
  }

  /** How many sessions of the account there are on the network. */
  sessions(phone: string): number {
    const subscriber = this.#subscriber(phone);
    const keys = [...this.#network.keys.values()];
    return keys.filter((key) => key.subscriber === subscriber && key.refusal === null).length;
  }

  /** Something happens that has its place in the account's sequence. */
  happen(phone: string, update: TlObject): void {
    const subscriber = this.#subscriber(phone);
    this.#network.announce(subscriber, subscriber.step({ type: 'other', update }));
  }

  /** Something happens that has no place there. */
  tell(phone: string, update: TlObject): void {
    this.#network.tell(this.#network.connectionsOf(this.#subscriber(phone)), update);
  }

  /** The owner scans what a QR code says. @param moveTo the data center where the owner's account lives */
  scan(phone: string, data: string, moveTo: number | null = null): void {
    const text = new URL(data).searchParams.get('token') ?? '';
    const token = Buffer.from(text, 'base64url');
    for (const [keyId, key] of this.#network.keys) {
      if (key.token?.bytes.equals(token) !== true || key.token.expires <= Date.now()) continue;
      key.halfIn = this.#subscriber(phone);
      key.moveTo = moveTo;
      this.#tellKey(keyId);
      return;
    }
    throw new Error('nothing of that kind is to be scanned');
  }

  /** The codes that are shown run out; `last`: there is no other. */
  expireCodes(last: boolean): void {
    this.#eachPairing((key) => {
      key.token = null;
      key.lastToken = last;
    });
  }

  /** The logins by QR code that are under way are refused. */
  refuseLogins(): void {
    this.#eachPairing((key) => {
      key.loginRefusal = 'PHONE_NUMBER_BANNED';
    });
  }

  /** A contact writes; answers the network's id of the message. */
  write(phone: string, written: Written): string {
    const { from, name, text, networkId, media, bytes, attached, elsewhere } = written;
    const subscriber = this.#subscriber(phone);
    const person = this.#network.person(from, name);
    const known = networkId === undefined ? undefined : subscriber.message(numberOf(networkId));
    const file =
      media === undefined
        ? null
        : storeFile(`in-${subscriber.pts}.bin`, Buffer.from(bytes ?? 'cGljdHVyZQ==', 'base64'));
    const message: BoxMessage = known ?? {
      id: subscriber.nextId(),
      peer: person.id,
      out: false,
      text,
      date: now(),
      media: media ?? null,
      file,
      randomId: null,
      ...(attached === undefined ? {} : { attached }),
      ...(elsewhere === true ? { dc: otherDataCenter } : {}),
    };
    this.#network.announce(subscriber, subscriber.add(message));
    return networkIdOf(subscriber, message.id);
  }

  /** Contacts write so much in the same moment; answers when, by `clockNow`. */
  writeAtOnce(phone: string, written: readonly Written[]): number {
    const at = clockNow();
    for (const one of written) this.write(phone, one);
    return at;
  }

  /** From now on notes when a message comes, for `measuredSends`. */
  measure(phone: string, measuring: Measuring): void {
    const subscriber = this.#subscriber(phone);
    subscriber.measured ??= new MeasuredSends();
    subscriber.measured.set(measuring);
  }

  /** Answers what `measure` has held; the time by `clockNow`. */
  release(phone: string): number {
    return this.#measured(phone).release();
  }

  /** How many messages came since the last `measuredSends`. */
  measuredCount(phone: string): number {
    return this.#measured(phone).count;
  }

  /** What came since the last call. */
  measuredSends(phone: string): Promise<readonly MeasuredSend[]> {
    return this.#measured(phone).take();
  }

  /** Somebody writes into a group of the account. */
  writeToGroup(phone: string, text: string): void {
    const subscriber = this.#subscriber(phone);
    const id = subscriber.nextId();
    this.#network.announce(subscriber, subscriber.step({ type: 'group', text, id }));
  }

  /** A contact has read everything up to a message. */
  read(phone: string, networkId: string): void {
    const subscriber = this.#subscriber(phone);
    const upTo = numberOf(networkId);
    const peer = subscriber.message(upTo)?.peer ?? 0;
    this.#network.announce(subscriber, subscriber.step({ type: 'read', peer, upTo }));
  }

  /** A message is deleted, for both sides or for the owner alone. */
  delete(phone: string, networkId: string): void {
    const subscriber = this.#subscriber(phone);
    const step = subscriber.step({ type: 'deleted', ids: [numberOf(networkId)] });
    this.#network.announce(subscriber, step);
  }

  /** What contacts were shown of the account's messages, in order. */
  outbox(phone: string): readonly Reached[] {
    const subscriber = this.#subscriber(phone);
    return subscriber.messages
      .filter(({ out }) => out)
      .map(({ id, peer, text, randomId, media, file }) => ({
        networkId: networkIdOf(subscriber, id),
        to: this.#network.people.get(peer)?.phone ?? '',
        text,
        attempts: subscriber.handedIn.get(randomId ?? '') ?? 0,
        media,
        size: file === null ? 0 : fileBytes(file).length,
      }));
  }

  /** The account's connections break. */
  drop(phone: string): void {
    for (const connection of this.#network.connectionsOf(this.#subscriber(phone))) connection.cut();
  }

  /**
   * The account's sessions end.
   * @param reason what every call of them is refused with
   * @param silently whether their connections stay
   */
  revoke(phone: string, reason = 'SESSION_REVOKED', silently = false): void {
    const subscriber = this.#subscriber(phone);
    for (const key of this.#network.keys.values()) {
      if (key.subscriber === subscriber) key.refusal = reason;
    }
    if (!silently) this.drop(phone);
  }

  /** The network forgets the account's session keys. */
  forgetKeys(phone: string): void {
    const subscriber = this.#subscriber(phone);
    this.drop(phone);
    for (const [keyId, key] of this.#network.keys) {
      if (key.subscriber === subscriber) this.#network.keys.delete(keyId);
    }
  }

  /** The other data center forgets the account's session keys. */
  forgetKeysElsewhere(phone: string): void {
    const subscriber = this.#subscriber(phone);
    const elsewhere = [...this.#network.keys].filter(
      ([, key]) => key.subscriber === subscriber && key.dc === otherDataCenter,
    );
    for (const [keyId] of elsewhere) {
      for (const connection of this.#network.connections) {
        if (connection.keyId === keyId) connection.cut();
      }
      this.#network.keys.delete(keyId);
    }
  }

  /** Calls of these methods are told to wait. */
  flood(phone: string, methods: readonly string[], ms: number): void {
    const subscriber = this.#subscriber(phone);
    subscriber.floodMethods = methods;
    subscriber.floodUntil = Date.now() + ms;
  }

  /** Takes the network out of everybody's reach, or back. */
  setReachable(reachable: boolean): void {
    this.#network.reachable = reachable;
    if (!reachable) for (const connection of this.#network.connections) connection.cut();
  }

  /** Takes the servers of files out of everybody's reach, or back. */
  setMediaReachable(reachable: boolean): void {
    this.#network.mediaReachable = reachable;
  }

  /** How long a token for a QR code lives. */
  setTokenMs(ms: number): void {
    this.#network.tokenMs = ms;
  }

  /** Makes so many numbers, and one more, that are logged in without a client's doing. */
  provision(count: number): readonly Provisioned[] {
    return Array.from({ length: count + 1 }, (_, number) => {
      const phone = `+1303555${String(number).padStart(4, '0')}`;
      const key = randomBytes(256);
      this.#network.addKey(key).subscriber = this.#network.subscriber(phone);
      return { phone, key: key.toString('base64') };
    });
  }

  /** How often a client of each number has connected and been heard. */
  logins(): Readonly<Record<string, number>> {
    return this.#network.logIns.counts();
  }

  /** The log-ins since a moment, by `clockNow`. */
  logInsSince(at: number): readonly LogIn[] {
    return this.#network.logIns.since(at);
  }

  /** What has come from clients so far. */
  traffic(): { readonly connections: number; readonly bytes: number } {
    return { connections: this.#network.connectionCount, bytes: this.#network.byteCount };
  }

  #measured(phone: string): MeasuredSends {
    const { measured } = this.#subscriber(phone);
    if (measured === null) throw new Error(`${phone} is not measured`);
    return measured;
  }

  #subscriber(phone: string): Subscriber {
    const subscriber = this.#network.subscribers.get(phone);
    if (subscriber === undefined) throw new Error(`nobody has the number ${phone}`);
    return subscriber;
  }

  #eachPairing(change: (key: SessionKey) => void): void {
    for (const [keyId, key] of this.#network.keys) {
      if (key.token === null || key.subscriber !== null || key.lastToken) continue;
      change(key);
      this.#tellKey(keyId);
    }
  }

  #tellKey(keyId: string): void {
    const connections = [...this.#network.connections].filter((one) => one.keyId === keyId);
    this.#network.tell(connections, { _: 'updateLoginToken' });
  }
}

/** The id of a message as the gateway is to name it: the network's own is of one user alone. */
function networkIdOf({ person }: Subscriber, id: number): string {
  return `${person.id}:${id}`;
}

function numberOf(networkId: string): number {
  return Number(networkId.slice(networkId.indexOf(':') + 1));
}

import { randomUUID } from 'node:crypto';
import type { BinaryNode } from 'baileys';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { clockNow } from '../../bench/clock.ts';
import { until } from '../../harness/story.ts';
import type { LogIn } from '../log-ins.ts';
import { type MeasuredSend, MeasuredSends, type Measuring } from '../measured-sends.ts';
import { AddressBook, addressBookCollection, type SavedContact } from './address-book.ts';
import type { Companion } from './companion.ts';
import { addressOf } from './directory.ts';
import { sendToken } from './limits.ts';
import type { MediaHost } from './media-host.ts';
import { composed, stanzaOf, type Writing } from './messages.ts';
import { makeIdentity, type ServerIdentity } from './noise.ts';
import type { Past, Phone, ShownMessage } from './phone.ts';
import { provision } from './provision.ts';
import type { RatchetUse } from './ratchets.ts';
import { failure, now, server } from './stanzas.ts';
import { Switchboard } from './switchboard.ts';

/**
 * A network that speaks the real one's protocol on loopback, with phones and contacts that a test plays.
 * All its state is in memory. Calls that name a phone number make the phone when it is new.
 */
export class FakeNetwork {
  /** The key to trust, base64. */
  readonly rootPublicKey: string;
  readonly #board: Switchboard;
  readonly #identity: ServerIdentity;

  private constructor(board: Switchboard, rootPublicKey: Buffer) {
    this.#board = board;
    this.#identity = board.identity;
    this.rootPublicKey = rootPublicKey.toString('base64');
  }

  /** Listens on a free port. */
  static async start(): Promise<FakeNetwork> {
    const library = await loadLibrary();
    const { identity, rootPublicKey } = makeIdentity(library);
    const board = new Switchboard(library, identity);
    await board.listen();
    return new FakeNetwork(board, rootPublicKey);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#board.port}/ws/chat`;
  }

  async stop(): Promise<void> {
    await this.#board.close();
  }

  /** What has come from devices so far. */
  traffic(): { readonly connections: number; readonly bytes: number } {
    return this.#board.traffic();
  }

  /** The owner scans a QR code. @param beside whether a device that is linked already stays so */
  async scan(number: string, text: string, beside = false): Promise<void> {
    const phone = this.#phone(number);
    for (const pairing of this.#board.pairings()) {
      const candidate = pairing.scanned(text);
      if (candidate === null) continue;
      pairing.link(phone.owner, phone.newDevice(beside), candidate, phone.breaksLinks);
      return;
    }
    throw new Error('nobody shows this code');
  }

  /** The owner types a pairing code. */
  async typeCode(number: string, code: string): Promise<void> {
    const phone = this.#phone(number);
    // The code is shown as soon as the device has asked, which may take a moment to get here.
    const pairing = await until(`a pairing of ${number}`, async () =>
      this.#board.pairings().find((one) => one.isFor(number)),
    );
    const candidate = await pairing.typed(phone.owner, code);
    pairing.link(phone.owner, phone.newDevice(false), candidate);
  }

  /** Every device that is not linked yet shows its next code, or has shown its last one. */
  async offerCodes(count: number): Promise<void> {
    for (const pairing of this.#board.pairings()) pairing.offerCodes(count);
  }

  /** Every login of a device that is not linked yet is refused. */
  async refuseLogins(reason = '401'): Promise<void> {
    for (const { wire } of this.#board.pairings()) wire.finish(failure(reason));
  }

  /** Only a client of this version may log in, for example `2.3000.1023223821`; null: any. */
  async takeOnly(version: string | null): Promise<void> {
    this.#board.onlyVersion = version;
  }

  /** How often devices have sent what, by kind, all phones together. */
  async heard(): Promise<Readonly<Record<string, number>>> {
    return Object.fromEntries(this.#board.heard);
  }

  async setReachable(number: string, reachable: boolean): Promise<void> {
    this.#phone(number).reachable = reachable;
    if (!reachable) await this.drop(number);
  }

  /** Takes the whole network out of everybody's reach, or back. */
  async setNetworkReachable(reachable: boolean): Promise<void> {
    this.#board.setReachable(reachable);
  }

  /** How often a linked device of each number has logged in. */
  async logins(): Promise<Readonly<Record<string, number>>> {
    return this.#board.logIns.counts();
  }

  /** The log-ins of linked devices since a moment, by `clockNow`. */
  async logInsSince(at: number): Promise<readonly LogIn[]> {
    return this.#board.logIns.since(at);
  }

  /** Links a device to each of these phones without its doing; answers what its driver keeps of that, by name. */
  async provision(
    numbers: readonly string[],
  ): Promise<readonly Readonly<Record<string, string>>[]> {
    const { library } = this.#board;
    return await Promise.all(numbers.map((number) => provision(library, this.#phone(number))));
  }

  async drop(number: string): Promise<void> {
    this.#phone(number).companion?.wire?.destroy();
  }

  /** Ends the connection with this code, as a stream error, or else as a refused login. */
  async close(number: string, code: string, as: 'stream' | 'failure'): Promise<void> {
    const node: BinaryNode =
      as === 'failure' ? failure(code) : { tag: 'stream:error', attrs: { code } };
    this.#phone(number).companion?.wire?.finish(node);
  }

  async unlink(number: string): Promise<void> {
    const phone = this.#phone(number);
    phone.unlink(phone.companion);
  }

  async replace(number: string): Promise<void> {
    this.#phone(number).replace();
  }

  async block(number: string, blocked: boolean): Promise<void> {
    await this.refuse(number, blocked ? '403' : null);
  }

  /** Refuses the account's devices with this code, now and at every login; null: no longer. */
  async refuse(number: string, code: string | null): Promise<void> {
    const phone = this.#phone(number);
    if (code === null) phone.refusal = null;
    else phone.refuse(code);
  }

  /** Somebody else answers in the network's place, or no longer: nobody vouches for them. */
  async impersonate(forged: boolean): Promise<void> {
    const { library } = this.#board;
    this.#board.identity = forged ? makeIdentity(library).identity : this.#identity;
  }

  /**
   * @param until milliseconds since the epoch; null: new contacts can be written to
   * @param isSaid whether the account's device is told at once
   */
  async lockNewContacts(number: string, until: number | null, isSaid = true): Promise<void> {
    const phone = this.#phone(number);
    phone.lockedUntil = until;
    if (!isSaid) return;
    const payload = {
      is_active: until !== null,
      ...(until === null ? {} : { time_enforcement_ends: String(Math.floor(until / 1_000)) }),
    };
    const data = { xwa2_notify_account_reachout_timelock: payload };
    const { companion } = phone;
    companion?.wire?.send({
      tag: 'notification',
      attrs: { from: server, type: 'mex', id: companion.wire.nextId(), t: now() },
      content: [
        {
          tag: 'update',
          attrs: { op_name: 'NotificationUserReachoutTimelockUpdate' },
          content: Buffer.from(JSON.stringify({ data })),
        },
      ],
    });
  }

  /** The network's quota of new contacts is used up until then, milliseconds since the epoch; null: it is not. */
  async exhaustQuota(number: string, until: number | null): Promise<void> {
    this.#phone(number).quotaEndsAt = until;
  }

  /** Messages to addresses of this kind are refused, as if to somebody new; null: none are. */
  async refuseAddresses(number: string, kind: Phone['refusedAddress']): Promise<void> {
    this.#phone(number).refusedAddress = kind;
  }

  /** Whether a message needs the token that its recipient has sent with its own. */
  async wantTokens(number: string, wanted: boolean): Promise<void> {
    this.#phone(number).tokens = wanted ? new Map() : null;
  }

  /** A contact sets up its phone anew: all its keys are others. */
  async reinstall(contact: string): Promise<void> {
    this.#board.directory.reinstall(contact);
  }

  /** A contact links a further device, of which the network tells the account's. */
  async addDevice(number: string, contact: string): Promise<void> {
    const { directory } = this.#board;
    const person = directory.byPhone(contact);
    person.devices += 1;
    const [user] = addressOf(person).split('@');
    const { companion } = this.#phone(number);
    companion?.wire?.send({
      tag: 'notification',
      attrs: { from: addressOf(person), type: 'devices', id: companion.wire.nextId(), t: now() },
      content: [
        {
          tag: 'add',
          attrs: { device_hash: 'hash' },
          content: [{ tag: 'device', attrs: { jid: `${user}:${person.devices - 1}@${server}` } }],
        },
      ],
    });
  }

  /** The network loses the keys of a device, which stays on the list; the first one has number 0. */
  async loseKeys(phone: string, device: number): Promise<void> {
    this.#board.directory.byPhone(phone).keyless.add(device);
  }

  async treatSends(number: string, how: Phone['sends']): Promise<void> {
    this.#phone(number).sends = how;
  }

  /** The receipts that follow each message by themselves. */
  async followWith(number: string, receipts: Phone['receipts']): Promise<void> {
    this.#phone(number).receipts = receipts;
  }

  /** Nothing that a device of this phone asks is answered any more. */
  async deafen(number: string): Promise<void> {
    this.#phone(number).deaf = true;
  }

  /** Whether reads of the phone's address book stay unanswered. */
  async holdAddressBook(number: string, held: boolean): Promise<void> {
    this.#phone(number).holdsAddressBook = held;
  }

  /** Refuses the next questions of this phone's device whose number somebody has, with this error number. */
  async refuseLookUps(number: string, count: number, error = '503'): Promise<void> {
    const phone = this.#phone(number);
    phone.refusedLookUps = count;
    phone.lookUpError = error;
  }

  /** Refuses those of the next questions of this phone's device where media are kept that are `true`. */
  async refuseMediaHosts(
    number: string,
    refused: readonly boolean[],
    error = '503',
  ): Promise<void> {
    const phone = this.#phone(number);
    phone.refusedMediaHosts = [...refused];
    phone.mediaHostError = error;
  }

  /** Refuses pairing codes for this number with this error number; null: no longer. */
  async refuseCodes(number: string, error: string | null): Promise<void> {
    this.#phone(number).codeError = error;
  }

  /** A device that this phone scans is cut off where it would be asked to connect anew. */
  async breakLinks(number: string): Promise<void> {
    this.#phone(number).breaksLinks = true;
  }

  /** A device of this phone that leaves is cut off in place of an answer. */
  async cutLeavers(number: string): Promise<void> {
    this.#phone(number).cutsLeavers = true;
  }

  /** Takes a number off the network. */
  async remove(number: string): Promise<void> {
    this.#board.directory.remove(number);
  }

  /** Whoever people call by this number has another one on the network, as with Brazil's ninth digit. */
  async renumber(phone: string, real: string): Promise<void> {
    this.#board.directory.rename(phone, real);
  }

  /** The numbers that devices have asked the network for, in order. */
  async lookUps(): Promise<readonly string[]> {
    return [...this.#board.directory.lookUps];
  }

  /** What devices have used the keys of their messages for, all phones together. */
  async ratchets(): Promise<RatchetUse> {
    return this.#board.ratchets.use();
  }

  /** A question about the keys of whoever has this number is answered so late, in milliseconds. */
  async delayKeys(phone: string, ms: number): Promise<void> {
    this.#board.lateKeys.set(phone, ms);
  }

  /** What the phone answers its device that asks for messages which came without content. */
  async resend(number: string, what: Phone['resends']): Promise<void> {
    const phone = this.#phone(number);
    phone.resends = what;
    if (what !== 'late') for (const answer of phone.lateAnswers.splice(0)) await answer();
  }

  /**
   * Puts somebody into the phone's address book; a device that is linked reads it at once.
   * @param isOld whether the device is notified as of something that happened while it was away
   */
  async saveContact(number: string, contact: SavedContact, isOld = false): Promise<void> {
    const phone = this.#phone(number);
    phone.addressBook ??= new AddressBook(this.#board.library);
    await phone.addressBook.save(contact);
    const { companion } = phone;
    const id = companion?.wire?.nextId();
    if (companion === null || id === undefined) return;
    const offline: BinaryNode['attrs'] = isOld ? { offline: '0' } : {};
    const type = 'server_sync';
    await companion.offer(`notification:${id}:${type}`, async () => ({
      tag: 'notification',
      attrs: { from: server, type, id, t: now(), ...offline },
      content: [{ tag: 'collection', attrs: { name: addressBookCollection } }],
    }));
  }

  /** Whether what a phone's address book hands over cannot be read. */
  async breakAddressBook(number: string, isBroken: boolean): Promise<void> {
    const { addressBook } = this.#phone(number);
    if (addressBook !== null) addressBook.isBroken = isBroken;
  }

  /** What a phone saves in its address book from now on takes a key that its device gets by `shareSettingsKey`. */
  async changeSettingsKey(number: string): Promise<void> {
    this.#phone(number).addressBook?.changeKey();
  }

  /** A phone gives its device the key of its address book, which may be empty. */
  async shareSettingsKey(number: string): Promise<void> {
    const phone = this.#phone(number);
    const { companion } = phone;
    const id = companion?.wire?.nextId();
    if (companion === null || id === undefined) return;
    phone.addressBook ??= new AddressBook(this.#board.library);
    await this.#board.tellOwnDevice(phone, companion, `KEY${id}`, phone.addressBook.keyShare());
  }

  /** Somebody calls the account. */
  async call(number: string, from: string): Promise<void> {
    const { companion } = this.#phone(number);
    const address = addressOf(this.#board.directory.byPhone(from));
    const id = companion?.wire?.nextId() ?? '';
    companion?.wire?.send({
      tag: 'call',
      attrs: { from: address, id, t: now() },
      content: [{ tag: 'offer', attrs: { 'call-id': id, 'call-creator': address } }],
    });
  }

  /** Where the network keeps files: host and port. */
  /** The network's media host: a test holds and counts its uploads. */
  get mediaHost(): Pick<MediaHost, 'holdsUploads' | 'uploads'> {
    return this.#board.media;
  }

  get mediaPlace(): string {
    return this.#board.media.place;
  }

  /** The first downloads of the next file are answered with these statuses, one each; with 0 never. */
  async refuseFiles(statuses: readonly number[]): Promise<void> {
    this.#board.media.refusals.push(...statuses);
  }

  async setPast(number: string, past: Past): Promise<void> {
    this.#phone(number).past = past;
  }

  /** A contact writes to the account; answers the message's id. */
  async write(number: string, writing: Writing): Promise<string> {
    const phone = this.#phone(number);
    const id = writing.networkId ?? randomUUID().replaceAll('-', '').toUpperCase();
    const hidden = writing.from.includes('@');
    const from = hidden
      ? this.#board.directory.byAddress(writing.from)
      : this.#board.directory.byPhone(writing.from);
    const message = await composed(this.#board.library, this.#board.media, writing);
    const written = { from, writing, message };
    this.#board.written.set(id, written);
    if (from.phone !== null) phone.chats.add(from.phone);
    if (phone.tokens !== null) sendToken(phone, from);
    const deliver = (companion: Companion) =>
      companion.offer(`message:${id}`, async () => {
        if (writing.withheld !== undefined) return stanzaOf(id, written, null);
        const enc = await from.encrypt(companion.jid, message, () => companion.bundle());
        if (writing.corrupt && enc.content instanceof Uint8Array) {
          enc.content[enc.content.length - 1] = ~(enc.content.at(-1) ?? 0) & 0xff;
        }
        return stanzaOf(id, written, enc);
      });
    const informed = phone.linked.filter((companion) => companion.informed);
    if (informed.length === 0) phone.early.push(deliver);
    await Promise.all(informed.map(deliver));
    return id;
  }

  /** Contacts write so much in the same moment; answers when, by `clockNow`. */
  async writeAtOnce(number: string, writings: readonly Writing[]): Promise<number> {
    const { companion } = this.#phone(number);
    if (companion === null) throw new Error('no device is linked');
    companion.gather();
    for (const writing of writings) await this.write(number, writing);
    const at = clockNow();
    companion.sendGathered();
    return at;
  }

  /** From now on notes when a message comes and reads it later, for `measuredSends`. */
  async measure(number: string, measuring: Measuring): Promise<void> {
    const phone = this.#phone(number);
    phone.measured ??= new MeasuredSends();
    phone.measured.set(measuring);
  }

  /** Answers what `measure` has held; the time by `clockNow`. */
  async release(number: string): Promise<number> {
    return this.#measured(number).release();
  }

  /** How many messages came since the last `measuredSends`. */
  async measuredCount(number: string): Promise<number> {
    return this.#measured(number).count;
  }

  /** What came since the last call. */
  async measuredSends(number: string): Promise<readonly MeasuredSend[]> {
    return await this.#measured(number).take();
  }

  /**
   * Reports how far a message got; `failed` is an answer that comes after the first.
   * @param by the address of who says so; the contact when absent
   */
  async report(
    number: string,
    id: string,
    status: 'delivered' | 'read' | 'failed',
    by?: string,
  ): Promise<void> {
    const phone = this.#phone(number);
    const to = phone.shown.get(id)?.to;
    if (to === undefined) throw new Error('no such message was sent');
    if (status !== 'failed') return await this.#board.report(phone, id, status, by);
    const from = addressOf(this.#board.directory.byName(to));
    const attrs = { class: 'message', id, from, error: '500', t: now() };
    phone.companion?.wire?.send({ tag: 'ack', attrs });
  }

  /**
   * A device could not read a message and asks for it again; the first one has number 0.
   * @param whose a contact's phone or opaque id, or the account's own number
   */
  async askAgain(number: string, id: string, whose: string, device = 0): Promise<void> {
    const { directory } = this.#board;
    const contact = whose.startsWith('+') ? directory.byPhone(whose) : directory.byAddress(whose);
    await this.#board.askAgain(this.#phone(number), id, contact, device);
  }

  async shown(number: string): Promise<readonly ShownMessage[]> {
    return [...this.#phone(number).shown.values()];
  }

  /** To whom the account has shown that it is typing, in order. */
  async typed(number: string): Promise<readonly string[]> {
    return [...this.#phone(number).typed];
  }

  /** How many stanzas the linked device has not acknowledged; null when none is linked. */
  async waiting(number: string): Promise<number | null> {
    return this.#phone(number).companion?.waiting ?? null;
  }

  /** How many devices are linked. */
  async devices(number: string): Promise<number> {
    return this.#phone(number).linked.length;
  }

  #measured(number: string): MeasuredSends {
    const { measured } = this.#phone(number);
    if (measured === null) throw new Error(`${number} is not measured`);
    return measured;
  }

  #phone(number: string): Phone {
    return this.#board.phone(number);
  }
}

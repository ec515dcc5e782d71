import { createServer, type Server } from 'node:http';
import type { BinaryNode, proto } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { freePort } from '../../harness/ports.ts';
import { LogIns } from '../log-ins.ts';
import type { Companion } from './companion.ts';
import { addressOf, Directory, userOf } from './directory.ts';
import type { Endpoint } from './endpoint.ts';
import { devicesIn, newContactRefusal } from './limits.ts';
import { MediaHost } from './media-host.ts';
import {
  encryptedFor,
  pastMessage,
  pushNamesMessage,
  resendAnswer,
  seen,
  stanzaOf,
  type WrittenMessage,
} from './messages.ts';
import type { ServerIdentity } from './noise.ts';
import { Pairing } from './pairing.ts';
import { Phone, replaced } from './phone.ts';
import { answerQuery } from './queries.ts';
import { Ratchets } from './ratchets.ts';
import { childOf, childrenOf, failure, kindOf, now } from './stanzas.ts';
import { Wire } from './wire.ts';

/** State of a connection after the handshake. */
type Peer =
  | { readonly type: 'pairing'; readonly pairing: Pairing }
  | { readonly type: 'device'; readonly phone: Phone; readonly companion: Companion };

/** Takes the devices' connections and answers what comes through them. */
export class Switchboard {
  readonly library: Library;
  readonly directory: Directory;
  readonly media = new MediaHost();
  /** What was written, for a device that could not read it. */
  readonly written = new Map<string, WrittenMessage>();
  /** What devices have sent, by kind: how often. */
  readonly heard = new Map<string, number>();
  /** What devices have used the keys of their messages for. */
  readonly ratchets = new Ratchets();
  /** How late questions about somebody's keys are answered, by phone, in milliseconds. */
  readonly lateKeys = new Map<string, number>();
  /** The only version of the client that is taken; null: any. */
  onlyVersion: string | null = null;
  /** What it shows to whoever connects. */
  identity: ServerIdentity;
  readonly #phones = new Map<string, Phone>();
  readonly #peers = new Map<Wire, Peer>();
  readonly #wires = new Set<Wire>();
  /** Of linked devices. */
  readonly logIns = new LogIns();
  /** Takes no connection while false. */
  #reachable = true;
  readonly #traffic = { connections: 0, bytes: 0 };
  #server: Server | null = null;
  #port = 0;

  constructor(library: Library, identity: ServerIdentity) {
    this.library = library;
    this.identity = identity;
    this.directory = new Directory(library);
  }

  get port(): number {
    return this.#port;
  }

  traffic(): { readonly connections: number; readonly bytes: number } {
    return { ...this.#traffic };
  }

  /** Takes the whole network out of everybody's reach, or back. */
  setReachable(reachable: boolean): void {
    this.#reachable = reachable;
    if (!reachable) for (const wire of this.#wires) wire.destroy();
  }

  async close(): Promise<void> {
    for (const wire of this.#wires) wire.destroy();
    const server = this.#server;
    server?.closeAllConnections();
    await new Promise<void>((done) => (server === null ? done() : server.close(() => done())));
    await this.media.stop();
  }

  /** Tells the sender's device how far a message got. @param by the address of who says so; the contact when absent */
  async report(phone: Phone, id: string, status: 'delivered' | 'read', by?: string): Promise<void> {
    const to = phone.shown.get(id)?.to ?? '';
    const from = by ?? addressOf(this.directory.byName(to));
    const attrs: BinaryNode['attrs'] = { id, from, t: now() };
    if (status === 'read') attrs.type = 'read';
    const node = { tag: 'receipt', attrs };
    await phone.companion?.offer(`receipt:${id}:${attrs.type ?? ''}`, async () => node);
  }

  /** A device of a contact, or of the owner, could not read a message and asks for it again. */
  async askAgain(phone: Phone, id: string, contact: Endpoint, device = 0): Promise<void> {
    const address = addressOf(contact);
    const from = device === 0 ? address : address.replace('@', `:${device}@`);
    const { to = '' } = phone.shown.get(id) ?? {};
    const attrs: BinaryNode['attrs'] = { id, from, type: 'retry', t: now() };
    if (contact === phone.owner) attrs.recipient = addressOf(this.directory.byName(to));
    await phone.companion?.offer(`receipt:${id}:retry`, async () => ({
      tag: 'receipt',
      attrs,
      content: [{ tag: 'retry', attrs: { count: '1', id, t: now(), v: '1' } }],
    }));
  }

  /** Listens on a free port. */
  async listen(): Promise<void> {
    await this.media.start();
    this.#port = await freePort();
    const listening = createServer({ noDelay: true }, (_, response) =>
      response.writeHead(404).end(),
    );
    listening.on('connection', (socket) => {
      if (!this.#reachable) {
        socket.destroy();
        return;
      }
      this.#traffic.connections += 1;
    });
    listening.on('upgrade', (request, socket) => {
      const wire = new Wire(this.library, this.identity, request, socket, {
        introduced: (wire, payload) => this.#introduced(wire, payload),
        node: (wire, node) => this.#heard(wire, node),
        bytes: (count) => {
          this.#traffic.bytes += count;
        },
        closed: (wire) => this.#closed(wire),
      });
      this.#wires.add(wire);
    });
    await new Promise<void>((resolve) => listening.listen(this.#port, '127.0.0.1', resolve));
    this.#server = listening;
  }

  /** The phone of a number, made when it is new. */
  phone(number: string): Phone {
    const known = this.#phones.get(number);
    if (known !== undefined) return known;
    const phone = new Phone(this.directory.byPhone(number));
    this.#phones.set(number, phone);
    return phone;
  }

  /** The devices that are not linked yet. */
  pairings(): readonly Pairing[] {
    return [...this.#peers.values()].flatMap((peer) =>
      peer.type === 'pairing' ? [peer.pairing] : [],
    );
  }

  #introduced(wire: Wire, payload: proto.ClientPayload): void {
    const { primary, secondary, tertiary } = payload.userAgent?.appVersion ?? {};
    const version = [primary, secondary, tertiary].join('.');
    if (this.onlyVersion !== null && this.onlyVersion !== version) {
      wire.finish(failure('405'));
      return;
    }
    if (!payload.username) {
      // Whose it will be is not known yet: it can reach us only when everybody can.
      const all = [...this.#phones.values()].every(({ reachable }) => reachable);
      if (!all) {
        wire.destroy();
        return;
      }
      this.#peers.set(wire, { type: 'pairing', pairing: new Pairing(this.library, wire) });
      return;
    }
    const phone = this.phone(`+${payload.username}`);
    const companion = phone.companions.get(payload.device ?? 0);
    if (!phone.reachable) {
      wire.destroy();
      return;
    }
    if (companion === undefined || companion.state === 'unlinked') {
      wire.finish(failure('401'));
      return;
    }
    if (companion.state === 'replaced') {
      wire.finish(replaced());
      return;
    }
    if (phone.refusal !== null) {
      wire.finish(failure(phone.refusal));
      return;
    }
    this.logIns.note(phone.number, companion.wire === null ? 0 : 1);
    companion.connect(wire);
    this.#peers.set(wire, { type: 'device', phone, companion });
    const device = companion.jid.split(/[:@]/)[1];
    wire.send({
      tag: 'success',
      attrs: { t: now(), lid: `${phone.owner.hidden}:${device}@lid` },
    });
  }

  #closed(wire: Wire): void {
    this.#wires.delete(wire);
    const peer = this.#peers.get(wire);
    this.#peers.delete(wire);
    if (peer?.type === 'device') peer.companion.disconnect(wire);
  }

  async #heard(wire: Wire, node: BinaryNode): Promise<void> {
    const peer = this.#peers.get(wire);
    if (peer === undefined) return;
    const kind = kindOf(node);
    this.heard.set(kind, (this.heard.get(kind) ?? 0) + 1);
    if (peer.type === 'pairing') {
      peer.pairing.asked((phone) => this.phone(phone), node);
      return;
    }
    const { phone, companion } = peer;
    switch (node.tag) {
      case 'message':
        this.ratchets.see(node);
        return await this.#sent(phone, companion, wire, node);
      case 'receipt':
        return await this.#received(companion, wire, node);
      case 'chatstate': {
        const { phone: number, hidden } = this.directory.byAddress(node.attrs.to ?? '');
        phone.typed.push(number ?? hidden);
        return;
      }
      case 'ack':
        acknowledged(companion, node);
        return;
      case 'iq':
        if (node.attrs.type === 'result' || phone.deaf) return;
        if (phone.holdsAddressBook && node.attrs.xmlns === 'w:sync:app:state') return;
        return await this.#afterDelay(node, () => this.#answer(phone, companion, wire, node));
    }
  }

  async #answer(phone: Phone, companion: Companion, wire: Wire, node: BinaryNode): Promise<void> {
    const context = {
      directory: this.directory,
      phone,
      companion,
      device: Number(companion.jid.split(/[:@]/)[1]),
      mediaHost: this.media.place,
      ready: () => this.#ready(phone, companion),
      leave: () =>
        phone.cutsLeavers ? phone.unlink(companion) : setImmediate(() => phone.unlink(companion)),
    };
    wire.send(await answerQuery(context, node));
  }

  /** What is asked about the keys of somebody whose answer is to come late is answered while others are. */
  async #afterDelay(node: BinaryNode, answer: () => Promise<void>): Promise<void> {
    const wanted = node.attrs.xmlns === 'encrypt' ? childOf(node, 'key') : undefined;
    const phones = childrenOf(wanted ?? { tag: '', attrs: {} }).map(
      ({ attrs }) => this.directory.byAddress(attrs.jid ?? '').phone ?? '',
    );
    const ms = Math.max(0, ...phones.map((phone) => this.lateKeys.get(phone) ?? 0));
    if (ms === 0) await answer();
    else setTimeout(() => void answer(), ms);
  }

  /** A device is ready for what waits; a new one is told of the phone's past first. */
  async #ready(phone: Phone, companion: Companion): Promise<void> {
    if (!companion.informed) {
      companion.informed = true;
      const device = companion.jid.replace(/\D/g, '');
      const { addressBook } = phone;
      if (addressBook !== null) {
        await this.tellOwnDevice(phone, companion, `KEY${device}`, addressBook.keyShare());
      }
      const { pushNames, isWithheld } = phone.past;
      if (!isWithheld) {
        const past = await pastMessage(this.library, phone.past, this.media);
        await this.tellOwnDevice(phone, companion, `PAST${device}`, past);
      }
      if (pushNames !== undefined) {
        const names = await pushNamesMessage(this.library, pushNames);
        await this.tellOwnDevice(phone, companion, `NAMES${device}`, names);
      }
      for (const deliver of phone.early.splice(0)) await deliver(companion);
    }
    companion.activate();
  }

  /** The phone says something to its own device. */
  async tellOwnDevice(
    phone: Phone,
    companion: Companion,
    id: string,
    message: proto.IMessage,
  ): Promise<void> {
    await companion.offer(`message:${id}`, async () => {
      const enc = await phone.owner.encrypt(companion.jid, message, () => companion.bundle());
      const from = addressOf(phone.owner);
      const attrs = { id, from, type: 'text', category: 'peer', t: now() };
      return { tag: 'message', attrs, content: [enc] };
    });
  }

  /** A device asks its phone for something. */
  async #askedPhone(phone: Phone, companion: Companion, node: BinaryNode): Promise<void> {
    const enc = encryptedFor(node, usersOf(phone));
    if (enc === undefined) return;
    const message = await phone.owner.decrypt(companion.jid, enc);
    const { protocolMessage } = message.deviceSentMessage?.message ?? message;
    const request = protocolMessage?.peerDataOperationRequestMessage;
    if (!request || phone.resends === 'off') return;
    if (phone.resends === 'late') {
      phone.lateAnswers.push(() => this.#resend(phone, companion, node, request));
    } else await this.#resend(phone, companion, node, request);
  }

  async #resend(
    phone: Phone,
    companion: Companion,
    { attrs }: BinaryNode,
    request: proto.Message.IPeerDataOperationRequestMessage,
  ): Promise<void> {
    const what = phone.resends === 'nothing' ? 'nothing' : 'content';
    const answer = resendAnswer(this.library, request, this.written, what);
    await this.tellOwnDevice(phone, companion, `RESENT${attrs.id}`, answer);
  }

  async #sent(phone: Phone, companion: Companion, wire: Wire, node: BinaryNode): Promise<void> {
    const { id = '', to = '' } = node.attrs;
    const answer = (error?: string): void => {
      const attrs = { class: 'message', id, from: to, t: now() };
      wire.send({ tag: 'ack', attrs: error === undefined ? attrs : { ...attrs, error } });
    };
    if (node.attrs.category === 'peer' || userOf(to) === userOf(companion.jid)) {
      answer();
      await this.#askedPhone(phone, companion, node);
      return;
    }
    if (!to.endsWith('@lid') && !this.directory.isAddress(`+${userOf(to)}`)) {
      // Taken, and shown to nobody.
      answer();
      return;
    }
    const contact = this.directory.byAddress(to);
    const name = contact.phone ?? contact.hidden;
    if (phone.sends === 'refuse') {
      answer('500');
      return;
    }
    const refusal = newContactRefusal(phone, name, node);
    if (refusal !== null) {
      answer(refusal);
      return;
    }
    const enc = encryptedFor(node, [contact.phone?.replace('+', ''), contact.hidden]);
    if (enc === undefined) {
      answer('479');
      return;
    }
    if (phone.measured !== null) {
      const read = async () =>
        (await seen(this.library, this.media, await contact.decrypt(companion.jid, enc))).text;
      phone.chats.add(name);
      phone.measured.came(name, read, answer);
      return;
    }
    // The cipher reads no message that is more than 2,000 after the last one read.
    const copy = encryptedFor(node, usersOf(phone));
    if (copy !== undefined && copy !== enc) {
      await phone.owner.decrypt(companion.jid, copy).catch(() => undefined);
    }
    const message = await contact.decrypt(companion.jid, enc).catch(() => null);
    if (message === null) {
      answer();
      await this.askAgain(phone, id, contact);
      return;
    }
    const known = phone.shown.get(id);
    if (known !== undefined) known.times += 1;
    else {
      const shown = await seen(this.library, this.media, message);
      const how = { devices: devicesIn(node, contact), at: Date.now() };
      phone.shown.set(id, { networkId: id, to: name, address: to, ...how, ...shown, times: 1 });
    }
    phone.chats.add(name);
    if (phone.sends === 'hold') return;
    answer();
    if (known !== undefined) return;
    for (const status of phone.receipts) await this.report(phone, id, status);
  }

  /** A device's receipt: it has the message, or could not read it. */
  async #received(companion: Companion, wire: Wire, { attrs }: BinaryNode): Promise<void> {
    const { id = '', type } = attrs;
    wire.send({ tag: 'ack', attrs: { class: 'receipt', id, from: attrs.to ?? '', t: now() } });
    if (type === 'hist_sync') return;
    const written = this.written.get(id);
    if (type !== 'retry' || written === undefined) {
      companion.acknowledged(`message:${id}`);
      return;
    }
    const { from, message } = written;
    await companion.offer(`message:${id}`, async () => {
      const enc = await from.encrypt(companion.jid, message, () => companion.bundle(), true);
      const attempt = { ...enc, attrs: { ...enc.attrs, count: '1' } };
      return stanzaOf(id, written, attempt);
    });
  }
}

/** The two users that a phone's owner is addressed by. */
function usersOf({ number, owner }: Phone): readonly string[] {
  return [number.replace('+', ''), owner.hidden];
}

function acknowledged(companion: Companion, { attrs }: BinaryNode): void {
  const { class: name = '', id = '', type = '' } = attrs;
  companion.acknowledged(name === 'message' ? `message:${id}` : `${name}:${id}:${type}`);
}

import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Long } from '@mtcute/core';
import { type ICryptoProvider, parsePublicKey } from '@mtcute/core/utils.js';
import { LogIns } from '../../../networks/log-ins.ts';
import { Calls } from './calls.ts';
import { cryptography, keyIdOf } from './cipher.ts';
import { Connection, type ConnectionHost, never, Refusal } from './connection.ts';
import { Frames } from './frames.ts';
import { Handshake } from './handshake.ts';
import { dataCenter, otherDataCenter, updateObject, updatesObject, userObject } from './objects.ts';
import type { PasswordQuestion } from './password.ts';
import { type Person, type Step, Subscriber, short } from './subscriber.ts';
import type { Answer, TlObject } from './tl.ts';

/** How long a message waits whose sender's calls are treated with delay, in milliseconds. */
const sendDelayMs = 500;

/** A session key and who it belongs to. */
export interface SessionKey {
  readonly key: Buffer;
  /** The data center that knows it. */
  readonly dc: number;
  subscriber: Subscriber | null;
  /** Every call of it is refused with this error. */
  refusal: string | null;
  question: PasswordQuestion | null;
  /** Let in by code or QR, and not yet by password. */
  halfIn: Subscriber | null;
  /** The last token for a QR code, and whether no further one is given. */
  token: { readonly bytes: Buffer; readonly expires: number } | null;
  lastToken: boolean;
  /** Why the login that is under way is refused. */
  loginRefusal: string | null;
  /** The data center to which the login that is under way has to go. */
  moveTo: number | null;
}

/** What a method is answered with instead. */
interface RefusedMethod {
  readonly code: number;
  readonly name: string;
  /** How many calls are still to be refused. */
  left: number;
}

/**
 * The network's server on loopback: accounts, their boxes and their sessions, spoken to in the wire protocol by
 * the unmodified library. In memory.
 */
export class Network {
  /** PEM of the key that clients are to trust. */
  readonly publicKey: string;
  readonly people = new Map<number, Person>();
  readonly subscribers = new Map<string, Subscriber>();
  readonly keys = new Map<string, SessionKey>();
  readonly connections = new Set<Connection>();
  /** How long a token for a QR code lives, in milliseconds. */
  tokenMs = 30_000;
  /** How far this machine's clock is behind the network's, in milliseconds. */
  clockMs = 0;
  /** How often a token was asked for. */
  tokensAsked = 0;
  reachable = true;
  /** Data centers that take no more connections from anybody's address. */
  crowded: readonly number[] = [];
  /** False: a connection that asks for a part of a file, or brings one, breaks. */
  mediaReachable = true;
  /** Methods that are refused, whoever calls them. */
  readonly refusals = new Map<string, RefusedMethod>();
  /** Methods that are never answered. */
  readonly held = new Set<string>();
  /** Methods that are carried out, and not answered. */
  readonly unanswered = new Set<string>();
  /** Logins by QR code that were sent to another data center: token and who scanned it. */
  readonly moving = new Map<string, Subscriber>();
  /** Sessions that were announced to another data center: secret and owner. */
  readonly exported = new Map<string, Subscriber>();
  /** A log-in is a new connection's first call. */
  readonly logIns = new LogIns();
  readonly #heard = new WeakSet<Connection>();
  connectionCount = 0;
  byteCount = 0;
  readonly crypto: ICryptoProvider;
  #nextPersonId = 1_000_000;
  readonly #servers: ReadonlyMap<number, Server>;

  private constructor(crypto: ICryptoProvider) {
    this.crypto = crypto;
    const { privateKey, publicKey, fingerprint } = serverKey(crypto);
    this.publicKey = publicKey;
    const fingerprintId = Long.fromString(fingerprint, true, 16).toSigned();
    const calls = new Calls(this);
    const servers = [dataCenter, otherDataCenter].map((dc) => {
      const host: ConnectionHost = {
        crypto,
        handshake: () => new Handshake(crypto, privateKey, fingerprintId),
        agreed: (key) => this.addKey(key, dc),
        key: (id) => this.#keyAt(dc, id),
        call: (connection, request) => this.#call(calls, connection, request),
        closed: (connection) => this.connections.delete(connection),
      };
      return [dc, this.#server(dc, host)] as const;
    });
    this.#servers = new Map(servers);
  }

  #server(dc: number, host: ConnectionHost): Server {
    return createServer((socket) => {
      if (!this.reachable) {
        socket.destroy();
        return;
      }
      this.connectionCount += 1;
      const frames = new Frames(socket, (bytes) => {
        this.byteCount += bytes;
      });
      if (this.crowded.includes(dc)) frames.refuse(429);
      this.connections.add(new Connection(frames, host));
    });
  }

  /** Starts one on loopback, each data center on a free port. */
  static async listen(): Promise<Network> {
    const network = new Network(await cryptography());
    for (const server of network.#servers.values()) {
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
    }
    return network;
  }

  /** The port of the data center that clients begin with. */
  get port(): number {
    return this.portOf(dataCenter);
  }

  /** The port of a data center. */
  portOf(dc: number): number {
    const address = this.#servers.get(dc)?.address() ?? null;
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return address.port;
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.cut();
    for (const server of this.#servers.values()) {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** The person with this number; made when nobody has it. */
  person(phone: string, name = phone): Person {
    const known = [...this.people.values()].find((one) => one.phone === phone);
    if (known !== undefined) return known;
    const id = this.#nextPersonId;
    this.#nextPersonId += 1;
    const person = { id, phone, name, accessHash: randomBytes(8).readBigInt64LE() };
    this.people.set(id, person);
    return person;
  }

  /** The account with this number; made when there is none. */
  subscriber(phone: string): Subscriber {
    const known = this.subscribers.get(phone);
    if (known !== undefined) return known;
    const made = new Subscriber(this.person(phone));
    this.subscribers.set(phone, made);
    return made;
  }

  addKey(key: Buffer, dc = dataCenter): SessionKey {
    const made: SessionKey = {
      key,
      dc,
      subscriber: null,
      refusal: null,
      question: null,
      halfIn: null,
      token: null,
      lastToken: false,
      loginRefusal: null,
      moveTo: null,
    };
    this.keys.set(keyIdOf(key), made);
    return made;
  }

  #keyAt(dc: number, id: string): Buffer | null {
    const known = this.keys.get(id);
    return known?.dc === dc ? known.key : null;
  }

  /** The connections that use a session key of this account. */
  connectionsOf(subscriber: Subscriber): Connection[] {
    return [...this.connections].filter(
      ({ keyId }) => keyId !== null && this.keys.get(keyId)?.subscriber === subscriber,
    );
  }

  /** Tells an account's clients of a step; those that are away find it later. */
  announce(subscriber: Subscriber, step: Step, except?: Connection): void {
    const { what } = step;
    const peer = what.type === 'message' ? subscriber.message(what.id)?.peer : undefined;
    const person = peer === undefined ? undefined : this.people.get(peer);
    const users = person === undefined ? [] : [userObject(person, subscriber)];
    const push = updatesObject([updateObject(subscriber, step)], users);
    for (const connection of this.connectionsOf(subscriber)) {
      if (connection !== except) connection.push(push);
    }
  }

  /** Tells clients something that has no place in the sequence. */
  tell(connections: Iterable<Connection>, update: TlObject): void {
    for (const connection of connections) connection.push(short(update));
  }

  async #call(
    calls: Calls,
    connection: Connection,
    request: TlObject,
  ): Promise<Answer | typeof never> {
    const key = this.keys.get(connection.keyId ?? '');
    if (key === undefined) throw new Refusal(401, 'AUTH_KEY_UNREGISTERED');
    const { calls: counted } = key.subscriber ?? { calls: null };
    counted?.set(request._, (counted.get(request._) ?? 0) + 1);
    this.#refuse(request._);
    if (this.held.has(request._)) return never;
    if (!this.mediaReachable && request._.startsWith('upload.')) {
      connection.cut();
      return never;
    }
    const isSend = request._ === 'messages.sendMessage';
    if (isSend && key.subscriber?.treatment === 'delay') await sleep(sendDelayMs);
    while (isSend && key.subscriber?.treatment === 'pause') await sleep(20);
    if (key.refusal !== null) {
      throw new Refusal(key.refusal === 'AUTH_KEY_DUPLICATED' ? 406 : 401, key.refusal);
    }
    const { subscriber } = key;
    if (subscriber !== null && !this.#heard.has(connection)) {
      const others = this.connectionsOf(subscriber).filter((other) => this.#heard.has(other));
      this.logIns.note(subscriber.person.phone, others.length);
      this.#heard.add(connection);
    }
    if (subscriber?.banned === true && request._ !== 'auth.logOut') {
      throw new Refusal(401, 'USER_DEACTIVATED_BAN');
    }
    if (subscriber?.floodMethods.includes(request._) && subscriber.floodUntil > Date.now()) {
      const seconds = Math.ceil((subscriber.floodUntil - Date.now()) / 1000);
      throw new Refusal(420, `FLOOD_WAIT_${seconds}`);
    }
    const answer = await calls.carryOut(connection, key, request);
    return this.unanswered.has(request._) ? never : answer;
  }

  #refuse(method: string): void {
    const refused = this.refusals.get(method);
    if (refused === undefined || refused.left === 0) return;
    refused.left -= 1;
    throw new Refusal(refused.code, refused.name);
  }
}

/** One key for every network: to make one takes 0.3 s. The library finds none whose fingerprint begins with a zero. */
function serverKey(crypto: ICryptoProvider) {
  const privateKey = createPrivateKey(readFileSync(join(import.meta.dirname, 'keys/server.key')));
  const publicKey = createPublicKey(privateKey).export({ type: 'pkcs1', format: 'pem' }).toString();
  return { privateKey, publicKey, fingerprint: parsePublicKey(crypto, publicKey).fingerprint };
}

import { randomBytes } from 'node:crypto';
import { Long } from '@mtcute/core';
import type { ICryptoProvider } from '@mtcute/core/utils.js';
import { keyIdOf, open, type Packet, seal } from './cipher.ts';
import type { Frames } from './frames.ts';
import type { Handshake } from './handshake.ts';
import { type Answer, parse, serialize, type TlObject } from './tl.ts';

const container = 0x73f1f8dc;
const rpcResult = 0xf35c6d01;
const salt = Buffer.alloc(8, 7);

/** The network refuses a call. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, name: string) {
    super(name);
    this.code = code;
  }
}

/** A call is never answered. */
export const never = Symbol('never');

/** What a connection asks of the network. */
export interface ConnectionHost {
  readonly crypto: ICryptoProvider;
  handshake(): Handshake;
  /** A client and the network have agreed on a key. */
  agreed(key: Buffer): void;
  /** The key with this id, if the network knows it. */
  key(id: string): Buffer | null;
  /** Carries a call out. @throws Refusal */
  call(connection: Connection, request: TlObject): Promise<Answer | typeof never>;
  /** The connection broke. */
  closed(connection: Connection): void;
}

/** One client's connection: keys, packets, and calls with their answers. */
export class Connection {
  readonly #frames: Frames;
  readonly #host: ConnectionHost;
  #handshake: Handshake | null = null;
  #key: Buffer | null = null;
  #keyId: string | null = null;
  #session: Buffer | null = null;
  #lastMessageId = 0n;
  #sequence = 0;
  /** Calls that were taken: a client repeats one whose answer it misses. */
  readonly #seen = new Set<bigint>();

  constructor(frames: Frames, host: ConnectionHost) {
    this.#frames = frames;
    this.#host = host;
    frames.onPacket = (packet) => {
      try {
        this.#take(packet);
      } catch (error) {
        process.stderr.write(`unreadable: ${error}\n`);
        frames.cut();
      }
    };
    frames.onClose = () => host.closed(this);
  }

  /** The id of the key that the client uses; null before its first encrypted packet. */
  get keyId(): string | null {
    return this.#keyId;
  }

  /** Pushes updates to the client, if it has a session. */
  push(updates: TlObject): void {
    if (this.#session !== null) this.#send(serialize(updates), true);
  }

  cut(): void {
    this.#frames.cut();
  }

  #take(packet: Buffer): void {
    const keyId = packet.subarray(0, 8);
    const key = this.#host.key(keyId.toString('hex'));
    if (keyId.equals(Buffer.alloc(8))) this.#plain(packet.subarray(20));
    else if (key === null) this.#frames.refuse(404);
    else this.#encrypted(key, packet);
  }

  #encrypted(key: Buffer, packet: Buffer): void {
    if (key !== this.#key) this.#keyId = keyIdOf(key);
    this.#key = key;
    const opened = open(this.#host.crypto, key, packet);
    this.#meet(opened);
    this.#message(opened.messageId, opened.body);
  }

  #plain(body: Buffer): void {
    this.#handshake ??= this.#host.handshake();
    const { answer, key } = this.#handshake.take(body);
    if (key !== null) this.#host.agreed(key);
    const head = Buffer.alloc(20);
    head.writeBigUInt64LE(this.#nextMessageId(true), 8);
    head.writeUInt32LE(answer.length, 16);
    this.#frames.write(Buffer.concat([head, answer]));
  }

  #meet({ sessionId, messageId }: Packet): void {
    if (this.#session?.equals(sessionId)) return;
    this.#session = Buffer.from(sessionId);
    this.#tell({
      _: 'mt_new_session_created',
      firstMsgId: longOf(messageId),
      uniqueId: longOf(randomBytes(8).readBigUInt64LE()),
      serverSalt: longOf(salt.readBigUInt64LE()),
    });
  }

  #message(id: bigint, body: Buffer): void {
    if (body.readUInt32LE(0) !== container) {
      this.#one(id, body);
      return;
    }
    let at = 8;
    for (let left = body.readUInt32LE(4); left > 0; left -= 1) {
      const length = body.readUInt32LE(at + 12);
      this.#one(body.readBigUInt64LE(at), body.subarray(at + 16, at + 16 + length));
      at += 16 + length;
    }
  }

  #one(id: bigint, body: Buffer): void {
    const message = parse(body);
    switch (message._) {
      case 'mt_msgs_ack':
      case 'mt_http_wait':
      case 'mt_rpc_drop_answer':
      case 'mt_destroy_session':
      case 'mt_msg_resend_req':
        break;
      case 'mt_ping':
      case 'mt_ping_delay_disconnect':
        this.#tell({ _: 'mt_pong', msgId: longOf(id), pingId: message.pingId });
        break;
      case 'mt_get_future_salts':
        this.#send(futureSalts(id, Number(message.num)), false);
        break;
      case 'mt_msgs_state_req': {
        const asked = message.msgIds as readonly unknown[];
        // Taken, and still being worked on.
        const info = new Uint8Array(asked.length).fill(4);
        this.#tell({ _: 'mt_msgs_state_info', reqMsgId: longOf(id), info });
        break;
      }
      default:
        this.#call(id, unwrapped(message));
    }
  }

  #call(id: bigint, request: TlObject): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#tell({ _: 'mt_msgs_ack', msgIds: [longOf(id)] });
    this.#host.call(this, request).then(
      (answer) => {
        if (answer !== never) this.#answer(id, serialize(answer));
      },
      (error: unknown) => {
        const known = error instanceof Refusal ? error : new Refusal(500, `BROKEN ${error}`);
        if (!(error instanceof Refusal)) process.stderr.write(`${request._}: ${error}\n`);
        const refusal = { _: 'mt_rpc_error', errorCode: known.code, errorMessage: known.message };
        this.#answer(id, serialize(refusal));
      },
    );
  }

  #answer(id: bigint, result: Uint8Array): void {
    const head = Buffer.alloc(12);
    head.writeUInt32LE(rpcResult, 0);
    head.writeBigUInt64LE(id, 4);
    this.#send(Buffer.concat([head, result]), true);
  }

  #tell(message: TlObject): void {
    this.#send(serialize(message), false);
  }

  #send(body: Uint8Array, isContent: boolean): void {
    if (this.#key === null || this.#session === null) return;
    const sequence = this.#sequence * 2 + (isContent ? 1 : 0);
    if (isContent) this.#sequence += 1;
    const messageId = this.#nextMessageId(isContent);
    const packet = { salt, sessionId: this.#session, messageId, body: Buffer.from(body) };
    this.#frames.write(seal(this.#host.crypto, this.#key, packet, sequence));
  }

  #nextMessageId(isAnswer: boolean): bigint {
    const now = BigInt(Date.now());
    const id = ((now / 1000n) << 32n) | (((now % 1000n) << 22n) & ~3n);
    const next = id > this.#lastMessageId ? id : this.#lastMessageId + 4n;
    this.#lastMessageId = next;
    return next | (isAnswer ? 1n : 3n);
  }
}

/** The call inside its wrappings. */
function unwrapped(message: TlObject): TlObject {
  let inner = message;
  while (isTlObject(inner.query) && /^(invoke|initConnection)/.test(inner._)) inner = inner.query;
  return inner;
}

function isTlObject(value: unknown): value is TlObject {
  return typeof value === 'object' && value !== null && '_' in value;
}

/** Seconds from one salt to the next. */
const saltS = 1_800;

/**
 * Written by hand: the library can only read it. As many salts as are asked for, each good for an hour, the same every
 * time: a client that knows of none to come asks again with each packet.
 */
function futureSalts(id: bigint, count: number): Buffer {
  const now = Math.floor(Date.now() / 1000);
  const body = Buffer.alloc(20 + count * 16);
  body.writeUInt32LE(0xae500895, 0);
  body.writeBigUInt64LE(id, 4);
  body.writeInt32LE(now, 12);
  body.writeUInt32LE(count, 16);
  for (let n = 0; n < count; n += 1) {
    const since = now - 60 + n * saltS;
    body.writeInt32LE(since, 20 + n * 16);
    body.writeInt32LE(since + 2 * saltS, 24 + n * 16);
    salt.copy(body, 28 + n * 16);
  }
  return body;
}

/** 64 bits as the library holds them. */
export function longOf(value: bigint): Long {
  return Long.fromString(BigInt.asIntN(64, value).toString());
}

import { createHash, randomBytes } from 'node:crypto';
import { MemoryStorage } from '@mtcute/core';
import { createAesIgeForMessage, type ICryptoProvider } from '@mtcute/core/utils.js';
import { BaseTelegramClient } from '@mtcute/node';

/** What an encrypted packet carries. */
export interface Packet {
  readonly salt: Buffer;
  readonly sessionId: Buffer;
  readonly messageId: bigint;
  readonly body: Buffer;
}

/** The library's own primitives; the server uses them with the roles exchanged. */
export async function cryptography(): Promise<ICryptoProvider> {
  const storage = new MemoryStorage();
  const { crypto } = new BaseTelegramClient({ apiId: 1, apiHash: 'none', storage });
  await crypto.initialize?.();
  return crypto;
}

/** The id under which a key is named in each packet. */
export function keyIdOf(key: Uint8Array): string {
  return sha1(key).subarray(-8).toString('hex');
}

/** Opens a packet that a client encrypted. */
export function open(crypto: ICryptoProvider, key: Uint8Array, packet: Buffer): Packet {
  const messageKey = packet.subarray(8, 24);
  const inner = Buffer.from(
    createAesIgeForMessage(crypto, key, messageKey, true).decrypt(packet.subarray(24)),
  );
  const expected = sha256(Buffer.concat([key.subarray(88, 120), inner])).subarray(8, 24);
  if (!expected.equals(messageKey)) throw new Error('a packet with a wrong message key');
  const length = inner.readUInt32LE(28);
  return {
    salt: inner.subarray(0, 8),
    sessionId: inner.subarray(8, 16),
    messageId: inner.readBigUInt64LE(16),
    body: inner.subarray(32, 32 + length),
  };
}

/** Encrypts what goes to a client. */
export function seal(
  crypto: ICryptoProvider,
  key: Uint8Array,
  { salt, sessionId, messageId, body }: Packet,
  sequence: number,
): Buffer {
  const head = Buffer.alloc(16);
  head.writeBigUInt64LE(messageId, 0);
  head.writeUInt32LE(sequence, 8);
  head.writeUInt32LE(body.length, 12);
  const length = 32 + body.length;
  const padding = randomBytes(12 + ((16 - ((length + 12) % 16)) % 16));
  const inner = Buffer.concat([salt, sessionId, head, body, padding]);
  const messageKey = sha256(Buffer.concat([key.subarray(96, 128), inner])).subarray(8, 24);
  const encrypted = createAesIgeForMessage(crypto, key, messageKey, false).encrypt(inner);
  return Buffer.concat([sha1(key).subarray(-8), messageKey, encrypted]);
}

/** SHA-1. */
export function sha1(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha1').update(Buffer.concat(parts)).digest();
}

/** SHA-256. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

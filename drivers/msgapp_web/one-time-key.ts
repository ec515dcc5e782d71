import { generateKeyPairSync } from 'node:crypto';
import type { KeyPair } from 'baileys';

/**
 * A new pair of raw X25519 keys of 32 bytes each, as the library's `Curve.generateKeyPair` makes them. It has Node write
 * both as DER, which takes three times as long as to make them; an account has 812.
 */
export function oneTimeKey(): KeyPair {
  const { x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined) throw new Error('Node has made no X25519 key');
  return { public: Buffer.from(x, 'base64url'), private: Buffer.from(d, 'base64url') };
}

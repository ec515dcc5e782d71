import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { KeyPair } from 'baileys';

/** Node makes a JSON Web Key (RFC 8037) of a new pair; its types know other encodings only. */
type MakePair = (
  type: 'x25519',
  options: { readonly privateKeyEncoding: { readonly format: 'jwk' } },
) => { readonly privateKey: JsonWebKey };

/**
 * A new pair of raw X25519 keys of 32 bytes each, as the library's `Curve.generateKeyPair` makes them. It has Node write
 * both as DER, which takes three times as long as to make them; an account has 812.
 */
export function oneTimeKey(): KeyPair {
  // An export after the making may hang the process: a garbage collection in between locks the key a second time.
  const make = generateKeyPairSync as unknown as MakePair;
  const { x, d } = make('x25519', { privateKeyEncoding: { format: 'jwk' } }).privateKey;
  if (x === undefined || d === undefined) throw new Error('Node has made no X25519 key');
  return { public: Buffer.from(x, 'base64url'), private: Buffer.from(d, 'base64url') };
}

import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';

/** What the keys of one curve have in common as JSON Web Keys (RFC 8037). */
const kind = { kty: 'OKP', crv: 'X25519' } as const;

/**
 * The secret that two key pairs of Curve25519 share (RFC 7748, section 6.1). OpenSSL takes ten times as long to read keys
 * in DER, as the library hands them over, than raw ones, as they are in a JSON Web Key.
 * @param publicKey 32 bytes, of one pair
 * @param privateKey 32 bytes, of the other
 * @throws Error where the two share none
 */
export function sharedSecret(publicKey: Buffer, privateKey: Buffer): Buffer {
  const [x, d] = [publicKey.toString('base64url'), privateKey.toString('base64url')];
  return diffieHellman({
    publicKey: createPublicKey({ key: { ...kind, x }, format: 'jwk' }),
    // Node reads the public half of a private key and does not use it.
    privateKey: createPrivateKey({ key: { ...kind, d, x: '' }, format: 'jwk' }),
  });
}

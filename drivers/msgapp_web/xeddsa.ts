import { createPublicKey, verify } from 'node:crypto';

/** The prime of Curve25519. */
const prime = 2n ** 255n - 19n;

/** The bit of the last byte with a sign, where a number has its highest bit. */
const signBit = 0x80;

/**
 * Whether a signature is one of the key, as the Signal protocol signs (XEdDSA, "The XEdDSA and VXEdDSA Signature
 * Schemes", section 2). Node's Ed25519 does the work: the library's JavaScript takes twenty times as long, and each
 * log-in verifies two signatures.
 * @param key 32 bytes, a point of Curve25519 in Montgomery form
 * @param signature 64 bytes, the sign of the Edwards point in its highest bit
 */
export function isSignedBy(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const [sign, body] = [(signature[63] ?? 0) & signBit, Uint8Array.from(signature)];
  body[63] = (body[63] ?? 0) & ~signBit;
  const point = edwardsOf(key);
  point[31] = (point[31] ?? 0) | sign;
  const x = point.toString('base64url');
  const edwards = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, edwards, body);
}

/** The same point on the Edwards curve, its sign left 0: y = (u - 1) / (u + 1). */
function edwardsOf(key: Uint8Array): Buffer {
  const masked = Buffer.from(key).reverse();
  masked[0] = (masked[0] ?? 0) & ~signBit;
  const u = BigInt(`0x${masked.toString('hex')}`) % prime;
  const y = ((u - 1n + prime) * power(u + 1n, prime - 2n)) % prime;
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % prime];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}

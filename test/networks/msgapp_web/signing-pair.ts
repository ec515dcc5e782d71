import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { KeyPair } from 'baileys';

/** The bytes before the 32 of a private key (RFC 8410), of Ed25519 and of Curve25519. */
const heads = {
  signing: '302e020100300506032b657004220420',
  agreeing: '302e020100300506032b656e04220420',
};

/** A key pair of Curve25519 that also signs (XEdDSA), in Node's Ed25519: the library takes 20 ms for each signature. */
export class SigningPair {
  readonly keys: KeyPair;
  readonly #key: KeyObject;
  readonly #signBit: number;

  constructor() {
    const seed = randomBytes(32);
    const scalar = createHash('sha512').update(seed).digest().subarray(0, 32);
    scalar[0] = (scalar[0] ?? 0) & 0xf8;
    scalar[31] = ((scalar[31] ?? 0) & 0x7f) | 0x40;
    this.#key = privateKey('signing', seed);
    this.#signBit = (publicHalf(this.#key)[31] ?? 0) & 0x80;
    this.keys = { private: scalar, public: publicHalf(privateKey('agreeing', scalar)) };
  }

  /** A signature that is verified by the public key, the sign of its Edwards point in the highest bit. */
  sign(message: Uint8Array): Buffer {
    const signature = sign(null, message, this.#key);
    signature[63] = (signature[63] ?? 0) | this.#signBit;
    return signature;
  }
}

function privateKey(head: keyof typeof heads, bytes: Buffer): KeyObject {
  const key = Buffer.concat([Buffer.from(heads[head], 'hex'), bytes]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

function publicHalf(key: KeyObject): Buffer {
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}

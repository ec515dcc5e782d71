import { constants, type KeyObject, privateDecrypt, randomBytes } from 'node:crypto';
import type { Long } from '@mtcute/core';
import { generateKeyAndIvFromNonce, type ICryptoProvider } from '@mtcute/core/utils.js';
import { sha1, sha256 } from './cipher.ts';
import { pad, power, prime, toNumber } from './prime.ts';
import { parse, readerOf, serialize, type TlObject } from './tl.ts';

const generator = 3;
/** A product of two primes, for the client to factor. */
const product = Buffer.from('17ed48941a08f981', 'hex');

/** One exchange for all clients is safe enough for tests; OpenSSL would check the prime first, which takes 0.3 s. */
const secret = toNumber(sha256(Buffer.from('the secret of the test network')));
const publicPart = pad(power(BigInt(generator), secret));

/** The server's side of the exchange in which a client and the network agree on a session key. */
export class Handshake {
  readonly #crypto: ICryptoProvider;
  readonly #privateKey: KeyObject;
  readonly #fingerprint: Long;
  readonly #serverNonce = randomBytes(16);
  #nonce: Uint8Array = Buffer.alloc(0);
  #newNonce: Uint8Array = Buffer.alloc(0);

  constructor(crypto: ICryptoProvider, privateKey: KeyObject, fingerprint: Long) {
    this.#crypto = crypto;
    this.#privateKey = privateKey;
    this.#fingerprint = fingerprint;
  }

  /** Takes a plain message; answers what is to be said, and the key once there is one. */
  take(body: Uint8Array): { readonly answer: Uint8Array; readonly key: Buffer | null } {
    const message = parse(body);
    switch (message._) {
      case 'mt_req_pq_multi':
        this.#nonce = bytesOf(message, 'nonce');
        return { answer: serialize(this.#question()), key: null };
      case 'mt_req_DH_params':
        return { answer: serialize(this.#parameters(message)), key: null };
      case 'mt_set_client_DH_params':
        return this.#agree(message);
      default:
        throw new Error(`no part of a handshake: ${message._}`);
    }
  }

  #question(): TlObject {
    return {
      _: 'mt_resPQ',
      ...this.#nonces(),
      pq: product,
      serverPublicKeyFingerprints: [this.#fingerprint],
    };
  }

  #parameters(message: TlObject): TlObject {
    const inner = parse(this.#decrypt(bytesOf(message, 'encryptedData')));
    this.#newNonce = bytesOf(inner, 'newNonce');
    const answer = serialize({
      _: 'mt_server_DH_inner_data',
      ...this.#nonces(),
      g: generator,
      dhPrime: prime,
      gA: publicPart,
      serverTime: Math.floor(Date.now() / 1000),
    });
    const whole = Buffer.concat([sha1(answer), answer]);
    const padded = Buffer.concat([whole, randomBytes((16 - (whole.length % 16)) % 16)]);
    return {
      _: 'mt_server_DH_params_ok',
      ...this.#nonces(),
      encryptedAnswer: this.#cipher().encrypt(padded),
    };
  }

  #agree(message: TlObject): { readonly answer: Uint8Array; readonly key: Buffer | null } {
    const plain = this.#cipher().decrypt(bytesOf(message, 'encryptedData'));
    const inner = readerOf(plain.subarray(20)).object() as TlObject;
    const key = pad(power(toNumber(bytesOf(inner, 'gB')), secret));
    // One key in 256 begins with a zero, which the library leaves out: the client is asked for another number, as the
    // protocol allows, since a test could not try again.
    if (key[0] === 0) return { answer: this.#again(key), key: null };
    const hash = sha1(this.#newNonce, Buffer.from([1]), sha1(key).subarray(0, 8)).subarray(4, 20);
    const answer = serialize({ _: 'mt_dh_gen_ok', ...this.#nonces(), newNonceHash1: hash });
    return { answer, key };
  }

  #again(key: Buffer): Uint8Array {
    const stripped = key.subarray(key.findIndex((byte) => byte !== 0));
    const hash = sha1(this.#newNonce, Buffer.from([2]), sha1(stripped).subarray(0, 8));
    const newNonceHash2 = hash.subarray(4, 20);
    return serialize({ _: 'mt_dh_gen_retry', ...this.#nonces(), newNonceHash2 });
  }

  #nonces() {
    return { nonce: this.#nonce, serverNonce: this.#serverNonce };
  }

  #cipher() {
    const [key, iv] = generateKeyAndIvFromNonce(this.#crypto, this.#serverNonce, this.#newNonce);
    return this.#crypto.createAesIge(key, iv);
  }

  /** Undoes the padding of the network's RSA. */
  #decrypt(encrypted: Uint8Array): Uint8Array {
    const options = { key: this.#privateKey, padding: constants.RSA_NO_PADDING };
    const opened = privateDecrypt(options, encrypted);
    const hidden = opened.subarray(32);
    const aesKey = Buffer.from(sha256(hidden)).map((byte, at) => byte ^ (opened[at] ?? 0));
    const data = this.#crypto.createAesIge(aesKey, Buffer.alloc(32)).decrypt(hidden);
    return Buffer.from(data.subarray(0, 192)).reverse();
  }
}

function bytesOf(message: TlObject, field: string): Uint8Array {
  const value = message[field];
  if (!(value instanceof Uint8Array)) throw new Error(`${message._} without ${field}`);
  return value;
}

import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { KeyPair, proto } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { SigningPair } from './signing-pair.ts';

/** What vouches for a server: the chain that it shows and the key that the chain is about. */
export interface ServerIdentity {
  readonly keys: KeyPair;
  readonly chain: Uint8Array;
}

/** A root key, and a server's identity that it vouches for. */
export function makeIdentity(library: Library): {
  readonly rootPublicKey: Buffer;
  readonly identity: ServerIdentity;
} {
  const { Curve, proto } = library;
  const [root, intermediate, keys] = [
    new SigningPair(),
    new SigningPair(),
    Curve.generateKeyPair(),
  ];
  const { Details } = proto.CertChain.NoiseCertificate;
  const sign = (signer: SigningPair, fields: object) => {
    const details = Details.encode(Details.fromObject(fields)).finish();
    return { details, signature: signer.sign(details) };
  };
  const chain = proto.CertChain.encode(
    proto.CertChain.fromObject({
      intermediate: sign(root, { serial: 1, issuerSerial: 0, key: intermediate.keys.public }),
      leaf: sign(intermediate, { serial: 2, issuerSerial: 1, key: keys.public }),
    }),
  ).finish();
  return { rootPublicKey: Buffer.from(root.keys.public), identity: { keys, chain } };
}

/** One side of an encrypted stream. */
class Cipher {
  readonly #key: Buffer;
  #counter = 0;

  constructor(key: Buffer) {
    this.#key = key;
  }

  encrypt(plain: Uint8Array, data: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, this.#nonce());
    cipher.setAAD(data);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  decrypt(bytes: Uint8Array, data: Uint8Array): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, this.#nonce());
    decipher.setAAD(data);
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
  }

  #nonce(): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(this.#counter, 8);
    this.#counter += 1;
    return nonce;
  }
}

const nothing = Buffer.alloc(0);

/** The responder's side of the handshake and the stream behind it. */
export class NoiseResponder {
  readonly #library: Library;
  readonly #identity: ServerIdentity;
  readonly #ephemeral: KeyPair;
  #hash: Buffer;
  #salt: Buffer;
  #handshake: Cipher;
  #stream: { readonly inward: Cipher; readonly outward: Cipher } | null = null;

  constructor(library: Library, identity: ServerIdentity) {
    this.#library = library;
    this.#identity = identity;
    this.#ephemeral = library.Curve.generateKeyPair();
    this.#hash = Buffer.from(library.NOISE_MODE);
    this.#salt = this.#hash;
    this.#handshake = new Cipher(this.#hash);
    this.#mixHash(library.NOISE_WA_HEADER);
  }

  /** Answers the first message. */
  hello(message: proto.IHandshakeMessage): Uint8Array {
    const theirs = bytesOf(message.clientHello?.ephemeral);
    this.#mixHash(theirs);
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(this.#ephemeral.private, theirs);
    const fixed = this.#encrypt(this.#identity.keys.public);
    this.#mixKey(this.#identity.keys.private, theirs);
    const payload = this.#encrypt(this.#identity.chain);
    const { HandshakeMessage } = this.#library.proto;
    const serverHello = { ephemeral: this.#ephemeral.public, static: fixed, payload };
    return HandshakeMessage.encode(HandshakeMessage.fromObject({ serverHello })).finish();
  }

  /** Reads the second message: who the client says it is. */
  finish(message: proto.IHandshakeMessage): proto.ClientPayload {
    const theirs = this.#decrypt(bytesOf(message.clientFinish?.static));
    this.#mixKey(this.#ephemeral.private, theirs);
    const payload = this.#decrypt(bytesOf(message.clientFinish?.payload));
    const [inward, outward] = this.#derive(nothing);
    this.#stream = { inward: new Cipher(inward), outward: new Cipher(outward) };
    return this.#library.proto.ClientPayload.decode(payload);
  }

  open(frame: Uint8Array): Buffer {
    if (this.#stream === null) throw new Error('the handshake is not over');
    return this.#stream.inward.decrypt(frame, nothing);
  }

  seal(plain: Uint8Array): Buffer {
    if (this.#stream === null) throw new Error('the handshake is not over');
    return this.#stream.outward.encrypt(plain, nothing);
  }

  #encrypt(plain: Uint8Array): Buffer {
    const bytes = this.#handshake.encrypt(plain, this.#hash);
    this.#mixHash(bytes);
    return bytes;
  }

  #decrypt(bytes: Uint8Array): Buffer {
    const plain = this.#handshake.decrypt(bytes, this.#hash);
    this.#mixHash(bytes);
    return plain;
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = createHash('sha256').update(this.#hash).update(data).digest();
  }

  #mixKey(secret: Uint8Array, theirs: Uint8Array): void {
    const shared = this.#library.Curve.sharedKey(Buffer.from(secret), Buffer.from(theirs));
    const [salt, key] = this.#derive(shared);
    this.#salt = salt;
    this.#handshake = new Cipher(key);
  }

  #derive(data: Uint8Array): readonly [Buffer, Buffer] {
    const key = this.#library.hkdf(Buffer.from(data), 64, { salt: this.#salt, info: '' });
    return [Buffer.from(key.subarray(0, 32)), Buffer.from(key.subarray(32))];
  }
}

function bytesOf(value: Uint8Array | null | undefined): Uint8Array {
  if (!value) throw new Error('the handshake message lacks a part');
  return value;
}

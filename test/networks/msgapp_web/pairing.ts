import { randomBytes } from 'node:crypto';
import type { BinaryNode, KeyPair } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import type { Endpoint } from './endpoint.ts';
import type { Phone } from './phone.ts';
import { bytesOf, childOf, errorOf, resultOf, server, streamError } from './stanzas.ts';
import type { Wire } from './wire.ts';

/** The key of a device that wants to be linked, and the secret that it shares with the phone. */
interface Candidate {
  readonly identity: Buffer;
  readonly secret: Buffer;
}

/** A device that is not linked yet: shows codes until a phone's owner takes one. */
export class Pairing {
  readonly wire: Wire;
  readonly #library: Library;
  #refs: string[] = [];
  /** The number that it asked a pairing code for, and its key wrapped in that code. */
  #hello: { readonly phone: string; readonly wrapped: Buffer } | null = null;
  #typed: { readonly ephemeral: KeyPair; readonly theirs: Buffer } | null = null;
  #accept: ((candidate: Candidate) => void) | null = null;
  #sealed: BinaryNode | null = null;
  #breaks = false;

  constructor(library: Library, wire: Wire) {
    this.#library = library;
    this.wire = wire;
    this.offerCodes(6);
  }

  /** Hands out new codes; with none the device has shown its last one. */
  offerCodes(count: number): void {
    this.#refs = Array.from({ length: count }, () => randomBytes(16).toString('base64url'));
    this.wire.send({
      tag: 'iq',
      attrs: { from: server, type: 'set', id: this.wire.nextId(), xmlns: 'md' },
      content: [
        {
          tag: 'pair-device',
          attrs: {},
          content: this.#refs.map((ref) => ({ tag: 'ref', attrs: {}, content: Buffer.from(ref) })),
        },
      ],
    });
  }

  /** Reads a scanned text; null when it is another device's. */
  scanned(text: string): Candidate | null {
    const [ref, , identity, secret] = text.slice(text.indexOf('#') + 1).split(',');
    if (ref === undefined || !this.#refs.includes(ref)) return null;
    return {
      identity: Buffer.from(identity ?? '', 'base64'),
      secret: Buffer.from(secret ?? '', 'base64'),
    };
  }

  /** Whether a pairing code was made for this number. */
  isFor(phone: string): boolean {
    return this.#hello?.phone === phone;
  }

  /** The owner types the code on the phone. Resolves with what the device answers. */
  async typed(owner: Endpoint, code: string): Promise<Candidate> {
    if (this.#hello === null) throw new Error('no pairing code was asked for');
    const { Curve, derivePairingCodeKey, aesDecryptCTR, aesEncryptCTR } = this.#library;
    const { wrapped } = this.#hello;
    const unwrapping = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
    const theirs = aesDecryptCTR(wrapped.subarray(48), unwrapping, wrapped.subarray(32, 48));
    const ephemeral = Curve.generateKeyPair();
    this.#typed = { ephemeral, theirs };
    const [salt, nonce] = [randomBytes(32), randomBytes(16)];
    const wrapping = await derivePairingCodeKey(code, salt);
    const sealed = aesEncryptCTR(Buffer.from(ephemeral.public), wrapping, nonce);
    const part = (tag: string, content: Uint8Array) => ({ tag, attrs: {}, content });
    const candidate = new Promise<Candidate>((resolve) => {
      this.#accept = resolve;
    });
    this.wire.send({
      tag: 'notification',
      attrs: { from: server, type: 'link_code_companion_reg', id: this.wire.nextId() },
      content: [
        {
          tag: 'link_code_companion_reg',
          attrs: { stage: 'primary_hello' },
          content: [
            part(
              'link_code_pairing_wrapped_primary_ephemeral_pub',
              Buffer.concat([salt, nonce, sealed]),
            ),
            part('primary_identity_pub', owner.keys.signedIdentityKey.public),
            part('link_code_pairing_ref', Buffer.from('ref')),
          ],
        },
      ],
    });
    return await candidate;
  }

  /** What the device asks for while it is not linked. */
  asked(phoneAt: (number: string) => Phone, node: BinaryNode): void {
    const request = childOf(node, 'link_code_companion_reg');
    if (request?.attrs.stage === 'companion_hello') {
      const phone = `+${request.attrs.jid?.split('@')[0]}`;
      const { codeError } = phoneAt(phone);
      if (codeError !== null) {
        this.wire.send(errorOf(node, codeError));
        return;
      }
      this.#hello = {
        phone,
        wrapped: bytesOf(request, 'link_code_pairing_wrapped_companion_ephemeral_pub'),
      };
    }
    if (request?.attrs.stage === 'companion_finish' && this.#hello !== null) {
      this.#accept?.(this.#opened(phoneAt(this.#hello.phone).owner, request));
    }
    if (node.attrs.type === 'set' || node.attrs.type === 'get') this.wire.send(resultOf(node));
    if (node.attrs.type === 'result' && this.#sealed !== null) {
      if (this.#breaks) this.wire.destroy();
      else this.wire.finish(streamError('515'));
    }
  }

  /** The phone vouches for the device, which then connects anew. @param breaks whether it is not asked to, but cut off */
  link(owner: Endpoint, device: number, candidate: Candidate, breaks = false): void {
    this.#breaks = breaks;
    this.#sealed = successNode(this.#library, this.wire.nextId(), { owner, device, candidate });
    this.wire.send(this.#sealed);
  }

  #opened(owner: Endpoint, request: BinaryNode): Candidate {
    if (this.#typed === null) throw new Error('no code was typed');
    const { Curve, hkdf, aesDecryptGCM } = this.#library;
    const { ephemeral, theirs } = this.#typed;
    const shared = Curve.sharedKey(Buffer.from(ephemeral.private), theirs);
    const bundle = bytesOf(request, 'link_code_pairing_wrapped_key_bundle');
    const key = hkdf(shared, 32, {
      salt: bundle.subarray(0, 32),
      info: 'link_code_pairing_key_bundle_encryption_key',
    });
    const plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), Buffer.alloc(0));
    const identity = plain.subarray(0, 32);
    const common = Curve.sharedKey(Buffer.from(owner.keys.signedIdentityKey.private), identity);
    const secret = hkdf(Buffer.concat([shared, common, plain.subarray(64)]), 32, {
      info: 'adv_secret',
    });
    return { identity, secret: Buffer.from(secret) };
  }
}

/** What a device hears that a phone vouches for. */
export function successNode(
  { proto, hmacSign, WA_ADV_ACCOUNT_SIG_PREFIX }: Library,
  id: string,
  link: { readonly owner: Endpoint; readonly device: number; readonly candidate: Candidate },
): BinaryNode {
  const { owner, device, candidate } = link;
  const details = proto.ADVDeviceIdentity.encode({
    rawId: device,
    timestamp: Math.floor(Date.now() / 1_000),
    keyIndex: device,
  }).finish();
  const accountSignature = owner.identity.sign(
    Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, candidate.identity]),
  );
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: owner.identity.keys.public,
    accountSignature,
  }).finish();
  const sealed = proto.ADVSignedDeviceIdentityHMAC.encode({
    details: signed,
    hmac: hmacSign(Buffer.from(signed), candidate.secret),
  }).finish();
  const user = owner.phone?.replace('+', '');
  const attrs = { jid: `${user}:${device}@${server}`, lid: `${owner.hidden}:${device}@lid` };
  return {
    tag: 'iq',
    attrs: { from: server, type: 'set', id, xmlns: 'md' },
    content: [
      {
        tag: 'pair-success',
        attrs: {},
        content: [
          { tag: 'device-identity', attrs: {}, content: sealed },
          { tag: 'device', attrs },
          { tag: 'platform', attrs: { name: 'android' } },
        ],
      },
    ],
  };
}

import type { BinaryNode } from 'baileys';
import type { KeyBundle } from './endpoint.ts';

/** The network's own address. */
export const server = 's.whatsapp.net';

/** The children of a stanza; none when it holds bytes or nothing. */
export function childrenOf({ content }: BinaryNode): readonly BinaryNode[] {
  return Array.isArray(content) ? content : [];
}

export function childOf(node: BinaryNode, tag: string): BinaryNode | undefined {
  return childrenOf(node).find((child) => child.tag === tag);
}

/** The bytes of a child. @throws when it has none */
export function bytesOf(node: BinaryNode, tag: string): Buffer {
  const content = childOf(node, tag)?.content;
  if (!(content instanceof Uint8Array)) throw new Error(`the stanza has no bytes in ${tag}`);
  return Buffer.from(content);
}

/** What kind of stanza a device sends: what it is, and what it is for. */
export function kindOf(node: BinaryNode): string {
  const { type, xmlns, class: of } = node.attrs;
  const [first] = childrenOf(node);
  const parts =
    node.tag === 'iq'
      ? [type, xmlns, type === 'result' ? undefined : first?.tag]
      : [of, node.tag === 'message' ? node.attrs.category : type, node.tag === 'ib' && first?.tag];
  return [node.tag, ...parts].filter(Boolean).join(' ');
}

export function numberOf(node: BinaryNode, tag: string): number {
  const bytes = bytesOf(node, tag);
  return bytes.readUIntBE(0, bytes.length);
}

/** An answer to a query. */
export function resultOf({ attrs }: BinaryNode, content: BinaryNode[] = []): BinaryNode {
  return {
    tag: 'iq',
    attrs: { id: attrs.id ?? '', type: 'result', from: server },
    ...(content.length === 0 ? {} : { content }),
  };
}

/** A refusal of a query. */
export function errorOf({ attrs }: BinaryNode, code: string): BinaryNode {
  return {
    tag: 'iq',
    attrs: { id: attrs.id ?? '', type: 'error', from: server },
    content: [{ tag: 'error', attrs: { code } }],
  };
}

/** The end of a connection, with the reason that the client reads from it. */
export function streamError(code: string, content: BinaryNode[] = []): BinaryNode {
  return { tag: 'stream:error', attrs: { code }, ...(content.length === 0 ? {} : { content }) };
}

/** Seconds since the epoch. */
export function now(): string {
  return String(Math.floor(Date.now() / 1_000));
}

/** A device's keys as the network hands them out. */
export function bundleNode(jid: string, bundle: KeyBundle): BinaryNode {
  const { registrationId, identity, signedPreKey, preKey } = bundle;
  return {
    tag: 'user',
    attrs: { jid },
    content: [
      { tag: 'registration', attrs: {}, content: number(registrationId, 4) },
      { tag: 'type', attrs: {}, content: Buffer.from([5]) },
      { tag: 'identity', attrs: {}, content: Buffer.from(identity) },
      {
        tag: 'skey',
        attrs: {},
        content: [
          { tag: 'id', attrs: {}, content: number(signedPreKey.id, 3) },
          { tag: 'value', attrs: {}, content: Buffer.from(signedPreKey.value) },
          { tag: 'signature', attrs: {}, content: Buffer.from(signedPreKey.signature) },
        ],
      },
      ...(preKey === null
        ? []
        : [
            {
              tag: 'key',
              attrs: {},
              content: [
                { tag: 'id', attrs: {}, content: number(preKey.id, 3) },
                { tag: 'value', attrs: {}, content: Buffer.from(preKey.value) },
              ],
            },
          ]),
    ],
  };
}

/** A device for which the network has no keys, among the keys of others. */
export function keylessNode(jid: string): BinaryNode {
  const attrs = { code: '406', text: 'not-acceptable' };
  return { tag: 'user', attrs: { jid }, content: [{ tag: 'error', attrs }] };
}

function number(value: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

/** A refused login. */
export function failure(reason: string): BinaryNode {
  return { tag: 'failure', attrs: { reason, location: 'test' } };
}

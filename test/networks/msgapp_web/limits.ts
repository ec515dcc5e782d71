import { randomBytes } from 'node:crypto';
import type { BinaryNode } from 'baileys';
import { addressOf, userOf } from './directory.ts';
import type { Endpoint } from './endpoint.ts';
import type { Phone } from './phone.ts';
import { childOf, childrenOf, now } from './stanzas.ts';

/** The error number with which a message to this contact is refused; null: it is taken. */
export function newContactRefusal(phone: Phone, name: string, node: BinaryNode): string | null {
  const isNew = !phone.chats.has(name);
  if (isNew && phone.quotaEndsAt !== null) return '475';
  if (isNew && phone.lockedUntil !== null) return '463';
  const kind = node.attrs.to?.endsWith('@lid') ? 'hidden' : 'phone';
  if (phone.refusedAddress === kind || phone.refusedAddress === 'both') return '463';
  if (phone.tokens === null) return null;
  const token = childOf(node, 'tctoken')?.content;
  const isProved =
    token instanceof Uint8Array && phone.tokens.get(name)?.equals(Buffer.from(token));
  return isProved ? null : '463';
}

/** The account's device gets a token of somebody who writes to it. */
export function sendToken({ tokens, companion }: Phone, from: Endpoint): void {
  const token = randomBytes(16);
  tokens?.set(from.phone ?? from.hidden, token);
  const attrs = { from: addressOf(from), type: 'privacy_token', sender_lid: `${from.hidden}@lid` };
  companion?.wire?.send({
    tag: 'notification',
    attrs: { ...attrs, id: companion.wire.nextId(), t: now() },
    content: [
      {
        tag: 'tokens',
        attrs: {},
        content: [
          {
            tag: 'token',
            attrs: { type: 'trusted_contact', jid: companion.jid, t: now() },
            content: token,
          },
        ],
      },
    ],
  });
}

/** How many devices of a contact a message was encrypted for. */
export function devicesIn(node: BinaryNode, { phone, hidden }: Endpoint): number {
  const users = [phone?.replace('+', ''), hidden];
  const participants = childrenOf(childOf(node, 'participants') ?? { tag: '', attrs: {} });
  return participants.filter(({ attrs }) => users.includes(userOf(attrs.jid ?? ''))).length;
}

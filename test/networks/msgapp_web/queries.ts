import type { BinaryNode } from 'baileys';
import { addressBookCollection } from './address-book.ts';
import type { Companion } from './companion.ts';
import { addressOf, type Directory, userOf } from './directory.ts';
import type { Phone } from './phone.ts';
import {
  bundleNode,
  childOf,
  childrenOf,
  errorOf,
  keylessNode,
  resultOf,
  server,
} from './stanzas.ts';

/** What a query is answered from. */
export interface QueryContext {
  readonly directory: Directory;
  readonly phone: Phone;
  readonly device: number;
  readonly companion: Companion;
  /** Host and port of where media are kept. */
  readonly mediaHost: string;
  /** The device says that it is ready for what waits. */
  ready(): Promise<void>;
  /** The device leaves. */
  leave(): void;
}

/** Answers what a linked device asks; what is not known here gets an empty result. */
export async function answerQuery(context: QueryContext, node: BinaryNode): Promise<BinaryNode> {
  const { companion } = context;
  switch (node.attrs.xmlns) {
    case 'encrypt':
      return resultOf(node, keyAnswer(context, node));
    case 'usync':
      return isRefused(context, node)
        ? errorOf(node, context.phone.lookUpError)
        : resultOf(node, [usyncAnswer(context, node)]);
    case 'passive':
      await context.ready();
      return resultOf(node);
    case 'md':
      if (childOf(node, 'remove-companion-device') !== undefined) context.leave();
      return resultOf(node);
    case 'w:m':
      if (context.phone.refusedMediaHosts.shift()) {
        return errorOf(node, context.phone.mediaHostError);
      }
      return resultOf(node, [
        {
          tag: 'media_conn',
          attrs: { auth: companion.jid, ttl: '3600' },
          // The network names several: here the same one.
          content: Array.from({ length: 2 }, () => ({
            tag: 'host',
            attrs: { hostname: context.mediaHost },
          })),
        },
      ]);
    case 'w:mex':
      return resultOf(node, [limitAnswer(context.phone, node)]);
    case 'w:sync:app:state':
      return resultOf(node, [stateAnswer(context, node)]);
    case 'abt':
      return resultOf(node, [{ tag: 'props', attrs: {} }]);
    case 'blocklist':
      return resultOf(node, [{ tag: 'list', attrs: {} }]);
    case 'privacy':
      return resultOf(node, [{ tag: 'privacy', attrs: {} }]);
    default:
      return resultOf(node);
  }
}

function keyAnswer({ directory, companion }: QueryContext, node: BinaryNode): BinaryNode[] {
  if (childOf(node, 'count') !== undefined) {
    return [{ tag: 'count', attrs: { value: String(companion.preKeys) } }];
  }
  if (childOf(node, 'digest') !== undefined) return [{ tag: 'digest', attrs: {} }];
  const rotated = childOf(node, 'rotate');
  if (rotated !== undefined) companion.rotate(rotated);
  if (childOf(node, 'list') !== undefined) companion.upload(node);
  const wanted = childOf(node, 'key');
  if (wanted === undefined) return [];
  const bundles = childrenOf(wanted).map(({ attrs }) => {
    const jid = attrs.jid ?? '';
    const person = directory.byAddress(jid);
    const device = Number(/:(\d+)@/.exec(jid)?.[1] ?? 0);
    return person.keyless.has(device) ? keylessNode(jid) : bundleNode(jid, person.bundle());
  });
  return [{ tag: 'list', attrs: {}, content: bundles }];
}

function isRefused({ phone }: QueryContext, node: BinaryNode): boolean {
  const query = childOf(childOf(node, 'usync') ?? node, 'query');
  if (query === undefined || childOf(query, 'contact') === undefined) return false;
  phone.refusedLookUps -= 1;
  return phone.refusedLookUps >= 0;
}

function usyncAnswer(context: QueryContext, node: BinaryNode): BinaryNode {
  const usync = childOf(node, 'usync') ?? node;
  const list = childrenOf(childOf(usync, 'list') ?? usync);
  return {
    tag: 'usync',
    attrs: { ...usync.attrs },
    content: [{ tag: 'list', attrs: {}, content: list.map((user) => userAnswer(context, user)) }],
  };
}

function userAnswer({ directory, phone, device }: QueryContext, user: BinaryNode): BinaryNode {
  const asked = childOf(user, 'contact')?.content;
  if (asked !== undefined) {
    const number = asked.toString();
    directory.lookUps.push(number);
    const real = directory.realOf(number);
    const type = directory.has(real) ? 'in' : 'out';
    return {
      tag: 'user',
      attrs: { jid: `${real.replace('+', '')}@${server}` },
      content: [{ tag: 'contact', attrs: { type } }],
    };
  }
  const jid = user.attrs.jid ?? '';
  if (!jid.endsWith('@lid') && !directory.isAddress(`+${userOf(jid)}`)) {
    return { tag: 'user', attrs: { jid } };
  }
  const person = directory.byAddress(jid);
  const own = person.phone === phone.number;
  const devices: BinaryNode[] = [
    ...Array.from({ length: person.devices }, (_, id) => deviceNode(id)),
    ...(own ? [{ tag: 'device', attrs: { id: String(device), 'key-index': String(device) } }] : []),
  ];
  const lid = { tag: 'lid', attrs: { val: `${person.hidden}@lid` } };
  return {
    tag: 'user',
    attrs: { jid: jid.endsWith('@lid') ? jid : addressOf(person) },
    content: [
      { tag: 'devices', attrs: {}, content: [{ tag: 'device-list', attrs: {}, content: devices }] },
      ...(jid.endsWith('@lid') ? [] : [lid]),
    ],
  };
}

function deviceNode(id: number): BinaryNode {
  const attrs: BinaryNode['attrs'] = { id: String(id) };
  if (id > 0) attrs['key-index'] = String(id);
  return { tag: 'device', attrs };
}

/** The settings that devices share: the address book alone. */
function stateAnswer({ phone }: QueryContext, node: BinaryNode): BinaryNode {
  const collections = childrenOf(childOf(node, 'sync') ?? node);
  const content = collections.map(({ attrs }) => {
    const { name = '', version = '0' } = attrs;
    const { addressBook } = phone;
    if (name !== addressBookCollection || addressBook === null) {
      return { tag: 'collection', attrs: { name, version } };
    }
    return addressBook.since(Number(version));
  });
  return { tag: 'sync', attrs: {}, content };
}

/** The answer to a question about the account's limits: on writing to new contacts, or their quota. */
function limitAnswer({ lockedUntil, quotaEndsAt }: Phone, node: BinaryNode): BinaryNode {
  const isQuota = childOf(node, 'query')?.content?.toString().includes('INDIVIDUAL_NEW_CHAT_MSG');
  const data = isQuota
    ? {
        xwa2_message_capping_info: {
          ...{ total_quota: 30, used_quota: quotaEndsAt === null ? 0 : 30 },
          cycle_end_timestamp: secondsOf(quotaEndsAt),
          capping_status: quotaEndsAt === null ? 'NONE' : 'CAPPED',
        },
      }
    : {
        xwa2_fetch_account_reachout_timelock: {
          is_active: lockedUntil !== null,
          time_enforcement_ends: secondsOf(lockedUntil),
        },
      };
  return { tag: 'result', attrs: {}, content: Buffer.from(JSON.stringify({ data })) };
}

function secondsOf(at: number | null): string {
  return at === null ? '0' : String(Math.floor(at / 1_000));
}

import { randomUUID } from 'node:crypto';
import { Long } from '@mtcute/core';
import type { DriverAccount } from '../../../core/contracts/driver.ts';
import type { SentKind } from '../../../testing/contract/driver/world.ts';
import type { DriverWorld } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import type { Control } from './network/control.ts';
import type { TlObject } from './network/tl.ts';

const words = (text: string) => ({ _: 'textWithEntities', text, entities: [] });
const geo = { _: 'geoPoint', lat: 52.52, long: 13.405, accessHash: Long.ZERO };
const poll = {
  _: 'poll',
  id: Long.ONE,
  question: words('Lunch?'),
  answers: ['Pizza', 'Sushi'].map((text, number) => ({
    _: 'pollAnswer',
    text: words(text),
    option: Uint8Array.of(number),
  })),
  hash: Long.ZERO,
};

/** What a message of each kind carries. */
const kinds: Readonly<Record<Exclude<SentKind, 'reaction'>, TlObject>> = {
  location: { _: 'messageMediaGeo', geo },
  contact: {
    _: 'messageMediaContact',
    phoneNumber: '12025550177',
    firstName: 'Ben',
    lastName: '',
    vcard: '',
    userId: 0,
  },
  poll: { _: 'messageMediaPoll', poll, results: { _: 'pollResults' } },
};

/** The far side of the driver: the network on loopback, played through its control. */
export function chatappWorld(control: Control): DriverWorld {
  let accounts = 0;
  const contacts = [1, 2].map((number) => ({
    phone: phoneNumber(9000 + number),
    name: `contact ${number}`,
  }));
  const phoneOf = (phone: string | null): string => {
    if (phone === null) throw new Error('the world names contacts by phone');
    return phone;
  };
  return {
    traffic: () => control.traffic(),
    async account(): Promise<DriverAccount> {
      accounts += 1;
      const identifier = phoneNumber(accounts);
      control.put(identifier, { contacts });
      return { id: `acc_${randomUUID()}`, tenantId: 'ten_1', channel: 'chatapp', identifier };
    },
    async scan({ identifier }, step) {
      if (step.type !== 'show_qr') throw new Error('the network has QR codes only');
      control.scan(identifier, step.data);
    },
    async scanAsAnother({ identifier }, step) {
      if (step.type !== 'show_qr') throw new Error('the network has QR codes only');
      const stranger = `${identifier}9`;
      control.put(stranger, {});
      control.scan(stranger, step.data);
    },
    loginCode: async ({ identifier }) => control.code(identifier),
    async password() {
      throw new Error('this network has no login by password');
    },
    setPassword: async ({ identifier }, password) => control.put(identifier, { password }),
    codeRunsOut: async () => control.expireCodes(false),
    codesExpire: async () => control.expireCodes(true),
    refuseLogin: async () => control.refuseLogins(),
    setReachable: async (_, reachable) => control.setReachable(reachable),
    drop: async ({ identifier }) => control.drop(identifier),
    unlink: async ({ identifier }) => control.revoke(identifier, 'SESSION_REVOKED', true),
    replace: async ({ identifier }) => control.revoke(identifier, 'AUTH_KEY_DUPLICATED', true),
    async restrict({ identifier }, scope) {
      if (scope === 'all') control.put(identifier, { frozenUntil: 4_000_000_000 });
      else control.put(identifier, { limited: true });
    },
    lift: async ({ identifier }) =>
      control.put(identifier, { frozenUntil: null, limited: false, banned: false }),
    treatSends: async ({ identifier }, sends) => control.put(identifier, { sends }),
    async contact(_, number) {
      const phone = phoneNumber(9000 + number);
      return { phone, networkId: control.idOf(phone) };
    },
    nobody: async () => ({ phone: null, networkId: 'nobody' }),
    async write({ identifier }, { from, name, text, networkId, mediaUrl }) {
      return control.write(identifier, {
        from: phoneOf(from.phone),
        name,
        text,
        ...(networkId === undefined ? {} : { networkId }),
        ...(mediaUrl === undefined ? {} : { media: 'photo' }),
      });
    },
    async writeKind({ identifier }, kind, { phone }) {
      const from = phoneOf(phone);
      if (kind !== 'reaction')
        return control.write(identifier, { from, text: '', attached: kinds[kind] });
      const peer = { _: 'peerUser', userId: Number(control.idOf(from)) };
      const reactions = { _: 'messageReactions', results: [] };
      control.tell(identifier, { _: 'updateMessageReactions', peer, msgId: 1, reactions });
      return '1';
    },
    reportsFailures: false,
    report: async ({ identifier }, { networkId }) => control.read(identifier, networkId),
    shown: async ({ identifier }) =>
      control
        .outbox(identifier)
        .map(({ networkId, text, size }) => ({ networkId, text, hasFile: size > 0 })),
    async setPast({ identifier }, past) {
      control.put(identifier, {
        contacts: past.contacts.map(({ contact, name }) => ({
          phone: phoneOf(contact.phone),
          name,
        })),
      });
    },
  };
}

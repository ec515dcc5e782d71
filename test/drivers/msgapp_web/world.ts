import type { ContactAddress, DriverAccount } from '../../../core/contracts/driver.ts';
import type { SentKind } from '../../../testing/contract/driver/world.ts';
import type { DriverWorld } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import type { FakeNetwork } from '../../networks/msgapp_web/network.ts';

/** Some bytes to be taken for a picture. */
export const picture = Buffer.from('the bytes of a picture');

const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nTEL;type=CELL:+12025550177\nEND:VCARD';

const kinds = {
  location: { locationMessage: { degreesLatitude: 52.52, degreesLongitude: 13.405 } },
  contact: { contactMessage: { displayName: 'Ben', vcard } },
  poll: {
    pollCreationMessageV3: {
      name: 'Lunch?',
      options: [{ optionName: 'Pizza' }, { optionName: 'Sushi' }],
    },
  },
  reaction: { reactionMessage: { key: { id: 'X' }, text: '👍' } },
} satisfies Readonly<Record<SentKind, object>>;

/** The far side of the msgapp_web driver: the fake network and everybody on it. */
export function msgappWebWorld(network: FakeNetwork): DriverWorld {
  let accounts = 0;
  const contactPhone = (number: number) => phoneNumber(9000 + number);
  const phoneOf = ({ phone, networkId }: ContactAddress) => phone ?? networkId ?? '';
  return {
    traffic: () => network.traffic(),
    async account(): Promise<DriverAccount> {
      accounts += 1;
      const identifier = phoneNumber(accounts);
      return { id: `acc_${accounts}`, tenantId: 'ten_1', channel: 'msgapp_web', identifier };
    },
    async scan({ identifier }, step) {
      if (step.type === 'show_qr') await network.scan(identifier, step.data);
      else await network.typeCode(identifier, step.code);
    },
    async scanAsAnother({ identifier }, step) {
      const [stranger, from] = [`${identifier}9`, contactPhone(1)];
      await network.write(stranger, { from, name: 'Ada', text: 'for somebody else' });
      if (step.type !== 'show_qr') throw new Error('a pairing code is good for one number');
      await network.scan(stranger, step.data);
    },
    async loginCode() {
      throw new Error('this network sends no login codes');
    },
    async password() {
      throw new Error('this network has no passwords');
    },
    setPassword: null,
    codeRunsOut: () => network.offerCodes(6),
    codesExpire: () => network.offerCodes(0),
    refuseLogin: () => network.refuseLogins(),
    setReachable: ({ identifier }, reachable) => network.setReachable(identifier, reachable),
    drop: ({ identifier }) => network.drop(identifier),
    unlink: ({ identifier }) => network.unlink(identifier),
    replace: ({ identifier }) => network.replace(identifier),
    async restrict({ identifier }, scope) {
      if (scope === 'all') await network.block(identifier, true);
      else await network.lockNewContacts(identifier, Date.now() + 3_600_000);
    },
    lift: ({ identifier }) => network.block(identifier, false),
    treatSends: ({ identifier }, how) => network.treatSends(identifier, how),
    contact: async (_, number) => ({ phone: contactPhone(number), networkId: null }),
    nobody: async () => ({ phone: null, networkId: 'nobody' }),
    async write({ identifier }, { from, name, text, networkId, mediaUrl }) {
      const bytes = picture.toString('base64');
      const media =
        mediaUrl === undefined
          ? undefined
          : ({ kind: 'image', mimeType: 'image/jpeg', bytes } as const);
      return await network.write(identifier, { from: phoneOf(from), name, text, networkId, media });
    },
    async writeKind({ identifier }, kind, from) {
      const content = kinds[kind];
      const writing = { from: phoneOf(from), name: 'Ada', text: '', content };
      return await network.write(identifier, writing);
    },
    report: ({ identifier }, { networkId }, status) =>
      network.report(identifier, networkId, status),
    async shown({ identifier }) {
      const shown = await network.shown(identifier);
      return shown.map(({ networkId, text, media }) => ({
        networkId,
        text,
        hasFile: media !== null,
      }));
    },
    async setPast({ identifier }, { contacts, history }) {
      await network.setPast(identifier, {
        contacts: contacts.map(({ contact, name }) => ({ phone: phoneOf(contact), name })),
        history: history.map(({ from, text, at }) => ({ from: phoneOf(from), text, at })),
      });
    },
  };
}

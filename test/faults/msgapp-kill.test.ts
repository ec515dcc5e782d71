import t from 'tap';
import { type Client, client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { picture } from '../harness/media-server.ts';
import { scaled } from '../harness/scale.ts';
import { checkConversations, startSending } from '../harness/sending.ts';
import { phoneNumber, until } from '../harness/story.ts';
import { linkLive } from '../networks/msgapp_web/linking.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const count = scaled(1_000, 40);
const kills = [0.25, 0.5, 0.75];

/** A message as the API shows it. */
interface Message {
  readonly id: string;
  readonly text: string;
  readonly status: string;
  readonly media: { readonly url: string | null } | null;
}

/** Every message of an account in one direction, oldest first. */
async function all(api: Client, account: string, direction: string): Promise<Message[]> {
  const found: Message[] = [];
  for (let before = ''; ; ) {
    const answer = await api.get(
      `/messages?limit=100&account_id=${account}&direction=${direction}${before}`,
    );
    const page = answer.body as { messages: typeof found; next_cursor: string | null };
    found.unshift(...page.messages.toReversed());
    if (page.next_cursor === null) return found;
    before = `&before=${page.next_cursor}`;
  }
}

const { network, settings, places } = await startNetwork(t);
const gateway = await runGateway(t, {
  databaseUrl: null,
  program: ['--import', './test/networks/msgapp_web/lead-to-media.mjs', 'main.ts', 'serve'],
  settings: {
    ...settings,
    MEDIA_PLACE: places.media,
    GATEWAY_PLANS__GROWTH__SENDS_CAP: '1000000',
    GATEWAY_PLANS__GROWTH__NEW_CONTACTS_CAP: '1000000',
    GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '0',
    GATEWAY_LIMITS__OPENER_BURST__OPENERS: '0',
    GATEWAY_LIMITS__REQUESTS_PER_S: '0',
    GATEWAY_SESSIONS__LEASE_S: '3',
    GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
  },
});
const api = client(gateway.baseUrl, gateway.liveKey);

t.test('SIGKILL in the middle of sends and of what comes in', async (t) => {
  const phone = phoneNumber(1);
  const account = await linkLive(api, network, phone);
  await network.followWith(phone, ['delivered', 'read']);
  const sending = startSending(api, [{ phone, account }], count);
  const texts = Array.from({ length: count }, (_, number) => `inbound ${number}`);
  const writing = (async () => {
    for (const [number, text] of texts.entries()) {
      const from = phoneNumber(2_000 + (number % 7));
      await network.write(phone, { from, name: 'Ada', text });
      // Beside the sends, so that each kill meets both.
      await sending.reached(number / count);
    }
  })();
  for (const share of kills) {
    await sending.reached(share);
    await gateway.kill();
    await gateway.start();
  }
  await Promise.all([sending.finished, writing]);
  const accepted = sending.lines[0]?.accepted ?? [];
  const sent = await until(
    'every message to be read',
    async () => {
      const messages = await all(api, account, 'outbound');
      return messages.every(({ status }) => status === 'read') ? messages : undefined;
    },
    120_000,
  );
  t.same(new Set(sent.map(({ id }) => id)), new Set(accepted), 'each is stored once');
  t.equal(sent.length, count);
  const shown = await network.shown(phone);
  checkConversations(
    t,
    phone,
    shown.map(({ networkId }) => networkId),
    accepted,
  );
  await until(
    'everything that came in to be acknowledged',
    async () => ((await network.waiting(phone)) === 0 ? true : undefined),
    120_000,
  );
  const received = (await all(api, account, 'inbound')).map(({ text }) => text);
  t.same(received.toSorted(), texts.toSorted(), 'each that came in is stored once');
  t.equal((await network.ratchets()).reused, 0, 'no key of a message was used twice');
  t.comment(`${shown.filter(({ times }) => times > 1).length} messages were repeated`);
});

t.test('SIGKILL while a film is fetched', async (t) => {
  const phone = phoneNumber(2);
  const account = await linkLive(api, network, phone);
  const [ada, bob] = [phoneNumber(2_001), phoneNumber(2_002)];
  const film = { kind: 'image', mimeType: 'image/png', bytes: picture.toString('base64') } as const;
  const texts = async () => (await all(api, account, 'inbound')).map(({ text }) => text);
  const arrived = (count: number) =>
    until(
      `${count} messages`,
      async () => ((await texts()).length === count ? true : undefined),
      60_000,
    );
  await network.refuseFiles([0]);
  await network.write(phone, { from: ada, name: 'Ada', text: 'a film', media: film });
  await network.write(phone, { from: ada, name: 'Ada', text: 'said of the film' });
  await network.write(phone, { from: bob, name: 'Bob', text: 'a text' });
  await arrived(1);
  t.same(await texts(), ['a text'], 'nobody else waits for it');
  const acknowledged = async () => ((await network.waiting(phone)) === 0 ? true : undefined);
  await until('all to be acknowledged', acknowledged);
  await gateway.kill();
  await gateway.start();
  await arrived(3);
  await network.refuseFiles([404]);
  await network.write(phone, { from: ada, name: 'Ada', text: 'a lost film', media: film });
  await network.write(phone, { from: ada, name: 'Ada', text: 'the end' });
  await arrived(5);
  t.same(await texts(), ['a text', 'a film', 'said of the film', 'a lost film', 'the end']);
  const [, kept, , lost] = await all(api, account, 'inbound');
  t.match(kept?.media, { kind: 'image', size: picture.length, url: /./ }, 'with its file');
  t.match(
    lost?.media,
    { kind: 'image', url: null },
    'one that the network has no more comes without',
  );
  t.equal((await network.ratchets()).reused, 0, 'no key of a message was used twice');
  t.equal(await gateway.stop(), 0, 'a clean stop');
});

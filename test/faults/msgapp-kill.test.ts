import t from 'tap';
import { type Client, client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';
import { checkConversations, startSending } from '../harness/sending.ts';
import { phoneNumber, until } from '../harness/story.ts';
import { linkLive } from '../networks/msgapp_web/linking.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const count = scaled(1_000, 40);
const kills = [0.25, 0.5, 0.75];

/** Every message of the tenant in one direction, oldest first. */
async function all(
  api: Client,
  direction: string,
): Promise<{ id: string; text: string; status: string }[]> {
  const found: { id: string; text: string; status: string }[] = [];
  for (let before = ''; ; ) {
    const answer = await api.get(`/messages?limit=100&direction=${direction}${before}`);
    const page = answer.body as { messages: typeof found; next_cursor: string | null };
    found.unshift(...page.messages.toReversed());
    if (page.next_cursor === null) return found;
    before = `&before=${page.next_cursor}`;
  }
}

t.test('SIGKILL in the middle of sends and of what comes in', async (t) => {
  const { network, settings } = await startNetwork(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: {
      ...settings,
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
      const messages = await all(api, 'outbound');
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
  const received = (await all(api, 'inbound')).map(({ text }) => text);
  t.same(received.toSorted(), texts.toSorted(), 'each that came in is stored once');
  t.equal((await network.ratchets()).reused, 0, 'no key of a message was used twice');
  t.comment(`${shown.filter(({ times }) => times > 1).length} messages were repeated`);
  t.equal(await gateway.stop(), 0, 'a clean stop');
});

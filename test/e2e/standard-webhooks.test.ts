import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import t from 'tap';
import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { judge, type Received, startReceiver } from '../harness/receiver.ts';
import { scaled } from '../harness/scale.ts';
import { bodyOf, pair, phoneNumber, successOf, until } from '../harness/story.ts';

const libraries = { standardwebhooks: StandardWebhook, svix: SvixWebhook };
const phone = phoneNumber(1);
/** Deliveries before a rotation, and as many after it. */
const many = scaled(250, 60);

/** The libraries that take a delivery with a secret as it comes, in the order of their names. */
function takers(received: Received, secret: string): readonly string[] {
  const headers = Object.fromEntries(
    Object.entries(received.headers).map(([name, value]) => [name, String(value)]),
  );
  return Object.entries(libraries).flatMap(([name, library]) => {
    try {
      new library(secret).verify(received.rawBody.toString('utf8'), headers);
      return [name];
    } catch {
      return [];
    }
  });
}

for (const { name, create } of storyDatabases('sqlite')) {
  t.test(
    `the official libraries verify ${2 * many} of ${2 * many} deliveries, ${name}`,
    async (t) => {
      const database = await create(t);
      const { api } = await runGateway(t, { databaseUrl: database.url });
      const connections = connect(database.url, createLog('silent'));
      t.teardown(() => connections.close());
      const secrets: string[] = [];
      const both = Object.keys(libraries);
      const verdicts: { ours: string; before: readonly string[]; now: readonly string[] }[] = [];
      const receiver = await startReceiver(t, (received) => {
        const [before = '', now = ''] = secrets.slice(-2);
        verdicts.push({
          ours: judge(received, now),
          before: takers(received, before),
          now: takers(received, now),
        });
        return 204;
      });
      await pair(api, phone);
      const made = await api.post('/webhooks', {
        name: 'hook',
        url: receiver.url(),
        subscribed_to: ['message.received'],
        generate_signing_secret: true,
      });
      const first = bodyOf<{ signing_secret: string }>(made).signing_secret;
      secrets.push(first, first);
      const rotate = async () => {
        const answer = await successOf<{ signing_secret: string }>(
          api.post('/webhooks/hook/signing-secret'),
        );
        secrets.push(answer.signing_secret);
      };
      /** Lets so many people write, and answers the verdicts on the deliveries. */
      const receive = async (count: number) => {
        const before = verdicts.length;
        const people = Array.from({ length: count }, (_, n) => n);
        const write = async (): Promise<void> => {
          for (let n = people.pop(); n !== undefined; n = people.pop()) {
            const from = { phone: phoneNumber(1_000 + n), name: 'Ada' };
            await successOf(
              api.post(`/sandbox/phones/${phone}/inbound`, { from, text: 'Grüße 👋' }),
            );
          }
        };
        await Promise.all(Array.from({ length: 8 }, write));
        await until(`${count} deliveries`, async () =>
          verdicts.length >= before + count ? true : undefined,
        );
        return verdicts.slice(before);
      };
      const each = (count: number, verdict: object) => Array.from({ length: count }, () => verdict);

      t.strictSame(
        await receive(many),
        each(many, { ours: 'genuine', before: both, now: both }),
        'before a rotation',
      );
      await rotate();
      // A subscription is read at most 50 ms before the attempt.
      await new Promise((resolve) => setTimeout(resolve, 100));
      t.strictSame(
        await receive(many),
        each(many, { ours: 'genuine', before: both, now: both }),
        'after it: the secret before verifies, too, and ours is cut over',
      );
      await connections.write('webhooks').decrement('previous_secret_until', 86_400_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
      t.strictSame(
        await receive(3),
        each(3, { ours: 'genuine', before: [], now: both }),
        'a day later it does no more',
      );
      await rotate();
      await successOf(api.delete('/webhooks/hook/signing-secret'));
      t.match(await api.post('/webhooks/hook/test'), { body: { delivered: true } });
      const names = Object.keys(receiver.received.at(-1)?.headers ?? {});
      t.same(
        names.filter((one) => /^webhook-|^x-webhook-[st]/.test(one)),
        [],
        'signing is off',
      );
      await rotate();
      t.match(await api.post('/webhooks/hook/test'), { body: { delivered: true } });
      t.strictSame(
        verdicts.at(-1),
        { ours: 'genuine', before: [], now: both },
        'the secrets from before are forgotten',
      );
    },
  );
}

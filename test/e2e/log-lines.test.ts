import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { bodyOf, pair, phoneNumber, sendAccepted, until, untilMessage } from '../harness/story.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

t.test(
  'the log names failed messages and paused targets, and nothing that is private',
  async (t) => {
    const gateway = await runGateway(t, {
      databaseUrl: null,
      settings: {
        LOG_LEVEL: 'info',
        GATEWAY_WEBHOOKS__PAUSE_AFTER_FAILURES: '2',
        GATEWAY_WEBHOOKS__PAUSE_AFTER_S: '0',
      },
    });
    const { api } = gateway;
    const lines = (msg: string): readonly Line[] =>
      gateway
        .output()
        .split('\n')
        .filter((line) => line.includes(`"msg":"${msg}"`))
        .map((line) => JSON.parse(line));
    const [phone, friend] = [phoneNumber(1), phoneNumber(2)];
    const account = await pair(api, phone);
    const url = `http://127.0.0.1:${await freePort()}/path-with-a-token`;
    const subscription = { url, subscribed_to: ['message.failed'] };
    const { webhook } = bodyOf<{ webhook: { id: string } }>(
      await api.post('/webhooks', subscription),
    );

    const fail_reason = `not_on_network: nobody has ${friend}`;
    await api.put(`/sandbox/phones/${phone}`, { send: 'fail', fail_reason });
    const to = { phone: friend };
    const sent: string[] = [];
    for (const text of ['a private text', 'another private text']) {
      sent.push(await sendAccepted(api, { account_id: account, to, text }));
    }
    for (const id of sent) await untilMessage(api, id, 'failed');
    const code = 'not_on_network';
    const failed = await until('a line for each', async () => {
      const found = lines('a message failed');
      return found.length === sent.length ? found : undefined;
    });
    t.match(
      failed,
      sent.map((message) => ({ level: 40, message, account, code })),
    );

    const [paused] = await until('the pause', async () => {
      const found = lines('a delivery target is paused');
      return found.length > 0 ? found : undefined;
    });
    t.match(paused, { level: 30, host: '127.0.0.1', reason: /^Paused after 2 failed attempts/ });
    const fails = lines('a delivery target fails');
    t.match(fails, [{ level: 30, host: '127.0.0.1', kind: 'connection', failures: Number }]);
    t.equal(fails.length, 1, 'when it begins');
    await api.post(`/webhooks/${webhook.id}/reenable`);
    await api.post(`/webhooks/${webhook.id}/reenable`);
    t.match(lines('a delivery target is no longer paused'), [{ level: 30, host: '127.0.0.1' }]);
    t.equal(lines('a delivery target is paused').length, 1, 'once, however often it fails');
    t.equal(lines('a delivery target is no longer paused').length, 1, 'nor is an end repeated');

    // Not the banner, which is for whoever starts it.
    const all = gateway.output().replaceAll(/^[^{].*$/gm, '');
    for (const secret of [phone, friend, 'private text', 'path-with-a-token', gateway.key]) {
      t.notOk(all.includes(secret), `the log has no ${secret.slice(0, 4)}…`);
    }
  },
);

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runGateway } from '../../harness/gateway.ts';
import { startProcess } from '../../harness/processes.ts';
import { phoneNumber, successOf, until } from '../../harness/story.ts';

t.test('a trigger changes nothing but what it is for', async (t) => {
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null });
  const env = { API_URL: baseUrl, API_KEY: key };
  const start = (event: string, phone: string, ...further: string[]) =>
    startProcess(t, ['main.ts', 'trigger', event, '--phone', phone, ...further], env);
  const run = async (...words: Parameters<typeof start>) => {
    const started = start(...words);
    return { code: (await started.exit).code, output: started.output };
  };
  const sandbox = (phone: string, path = '') =>
    `/sandbox/phones/${phone}${path}?channel=msgapp_web`;
  const statusOf = async (phone: string) => {
    const path = `/channels/msgapp_web/connections/${phone}/status`;
    return (await successOf<{ status: string }>(api.get(path))).status;
  };
  const becomes = (status: string, phone: string) =>
    until(`${phone} to be ${status}`, async () => (await statusOf(phone)) === status || undefined);
  const sendsOf = async (phone: string) =>
    (await successOf<{ send: string }>(api.get(sandbox(phone)))).send;
  const fails = (phone: string) =>
    until('sends to fail', async () => (await sendsOf(phone)) === 'fail' || undefined);

  await t.test('two first ones share a phone', async (t) => {
    const phone = phoneNumber(1);
    const both = await Promise.all([1, 2].map(() => run('message.received', phone)));
    t.match(both, [{ code: 0 }, { code: 0 }]);
  });

  await t.test('a link that reconnects stays', async (t) => {
    const phone = phoneNumber(2);
    t.match(await run('message.received', phone), { code: 0 });
    const { cursor } = await successOf<{ cursor: string }>(api.get('/events?timeout_s=0'));
    await successOf(api.post(sandbox(phone, '/events'), { type: 'drop', for_ms: 60_000 }));
    await becomes('connecting', phone);
    const sending = run('message.sent', phone);
    // It begins to wait meanwhile.
    await sleep(2_000);
    await successOf(api.post(sandbox(phone, '/events'), { type: 'drop' }));
    t.match(await sending, { code: 0 });
    const { events } = await successOf<{ events: { type: string }[] }>(
      api.get(`/events?timeout_s=0&cursor=${cursor}`),
    );
    t.notMatch(JSON.stringify(events), /account\./, 'the account is neither ended nor linked anew');
  });

  await t.test('a phone does not go on to fail', async (t) => {
    const phone = phoneNumber(3);
    t.match(await run('message.received', phone), { code: 0 });
    await successOf(api.put(sandbox(phone), { send: 'sent', latency_ms: 5_000 }));
    const first = start('message.failed', phone);
    await fails(phone);
    const second = start('message.failed', phone);
    t.equal((await first.exit).code, 0, first.output);
    await second.exit;
    t.equal(await sendsOf(phone), 'sent', 'after two at once');

    await successOf(api.put(sandbox(phone), { latency_ms: 60_000 }));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const ended = start('message.failed', phone);
      await fails(phone);
      t.match(await ended.kill(signal), { code: 1 });
      t.match(ended.output, `${signal} has ended it.`);
      t.equal(await sendsOf(phone), 'sent', `after ${signal}`);
    }
  });

  await t.test('what is printed has happened', async (t) => {
    const phone = phoneNumber(4);
    t.match(await run('account.restricted', phone), { code: 0 });
    t.equal(await statusOf(phone), 'restricted');
    t.match(await run('account.restricted', phone), { code: 1, output: /is restricted already/ });
    t.match(await run('account.disconnected', phone), { code: 0 });
    t.equal(await statusOf(phone), 'disconnected');
  });

  await t.test('a contact writes first where the network wants that', async (t) => {
    const phone = phoneNumber(5);
    t.match(await run('message.read', phone, '--channel', 'chatapp'), { code: 0 });
  });
});

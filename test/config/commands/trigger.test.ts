import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isRefusal } from '../../../client/refusal.ts';
import { parseCommand } from '../../../config/commands/parse.ts';
import { trigger } from '../../../config/commands/trigger.ts';
import { UsageError } from '../../../config/commands/usage.ts';
import { runGateway } from '../../harness/gateway.ts';
import { startProcess } from '../../harness/processes.ts';
import { phoneNumber, successOf, until } from '../../harness/story.ts';

t.test('a trigger changes nothing but what it is for', async (t) => {
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null });
  const env = { API_URL: baseUrl, API_KEY: key };
  const wordsOf = (event: string, phone: string, further: readonly string[]) =>
    ['trigger', event, '--phone', phone, ...further] as const;
  const start = (event: string, phone: string) =>
    startProcess(t, ['main.ts', ...wordsOf(event, phone, [])], env);
  /** Runs it in this process, which spares the start of one. */
  const run = async (event: string, phone: string, ...further: string[]) => {
    const command = parseCommand(wordsOf(event, phone, further), env);
    if (command.name !== 'trigger') throw new Error(`it is ${command.name}`);
    return (await trigger(command.options, AbortSignal.timeout(60_000))).text;
  };
  /** Why it failed, although it was understood. */
  const failure = async (...words: Parameters<typeof run>) => {
    const error = await run(...words).catch((error: unknown) => error);
    t.type(error, Error);
    t.notOk(error instanceof UsageError, String(error));
    return error;
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
    t.same(
      both,
      [1, 2].map(() => `message.received on ${phone}`),
    );
  });

  await t.test('a link that reconnects stays', async (t) => {
    const phone = phoneNumber(2);
    await run('message.received', phone);
    const { cursor } = await successOf<{ cursor: string }>(api.get('/events?timeout_s=0'));
    await successOf(api.post(sandbox(phone, '/events'), { type: 'drop', for_ms: 60_000 }));
    await becomes('connecting', phone);
    const sending = run('message.sent', phone);
    // It begins to wait meanwhile.
    await sleep(2_000);
    await successOf(api.post(sandbox(phone, '/events'), { type: 'drop' }));
    t.equal(await sending, `message.sent on ${phone}`);
    const { events } = await successOf<{ events: { type: string }[] }>(
      api.get(`/events?timeout_s=0&cursor=${cursor}`),
    );
    t.notMatch(JSON.stringify(events), /account\./, 'the account is neither ended nor linked anew');
  });

  await t.test('a phone does not go on to fail', async (t) => {
    const phone = phoneNumber(3);
    await run('message.received', phone);
    await successOf(api.put(sandbox(phone), { send: 'sent', latency_ms: 5_000 }));
    const first = run('message.failed', phone);
    await fails(phone);
    const [one] = await Promise.allSettled([first, run('message.failed', phone)]);
    t.match(one, { status: 'fulfilled' });
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
    t.equal(await run('account.restricted', phone), `account.restricted on ${phone}`);
    t.equal(await statusOf(phone), 'restricted');
    t.match(await failure('account.restricted', phone), { message: /is restricted already/ });
    t.equal(await run('account.disconnected', phone), `account.disconnected on ${phone}`);
    t.equal(await statusOf(phone), 'disconnected');
  });

  await t.test('a contact writes first where the network wants that', async (t) => {
    const phone = phoneNumber(5);
    const text = await run('message.read', phone, '--channel', 'chatapp');
    t.equal(text, `message.read on ${phone}`);
  });

  await t.test('it says when its event did not happen', async (t) => {
    const [slow, phone, ada] = [phoneNumber(6), phoneNumber(7), phoneNumber(101)];
    const to = ['--contact', ada];
    await successOf(api.put(sandbox(slow), { send: 'deliver' }));
    await successOf(api.put(sandbox(phone), { send: 'fail' }));
    const [late, failed] = await Promise.all([
      failure('message.read', slow, ...to),
      failure('message.read', phone, ...to),
    ]);
    t.match(late, { message: /message.read did not happen within 10 s: .* still delivered/ });
    t.match(failed, { message: /message.read did not happen: message msg_\w+ is failed/ });

    await successOf(api.put(sandbox(phone), { send: 'sent' }));
    t.ok(await run('message.sent', phone, ...to), 'no further than that is asked for');
    t.ok(await run('message.failed', phone, ...to));
    t.equal(await sendsOf(phone), 'sent', 'the phone goes on as before');
    const { contacts } = await successOf<{ contacts: { id: string; phone: string }[] }>(
      api.get(`/contacts?phone=${encodeURIComponent(ada)}`),
    );
    t.not(contacts.length, 0);
    for (const { id } of contacts) {
      await successOf(api.patch(`/contacts/${id}`, { do_not_disturb: true }));
    }
    t.ok(isRefusal(await failure('message.failed', phone, ...to)), 'a send is refused');
    t.equal(await sendsOf(phone), 'sent', 'the phone goes on as before');
  });
});

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { carriedOut } from '../../../../drivers/simulated/control.ts';
import {
  type NetworkOptions,
  startSimulatedNetwork,
} from '../../../../testing/kit/simulated-network.ts';
import { runGateway } from '../../../harness/gateway.ts';
import { scaled } from '../../../harness/scale.ts';
import {
  bodyOf,
  outbox,
  pair,
  phoneNumber,
  sendAccepted,
  until,
  untilMessage,
} from '../../../harness/story.ts';

const from = { phone: phoneNumber(9_000), name: 'Ada' };

/** A gateway on a simulated network with this quota. */
async function begin(t: Test, quota: NetworkOptions['quota']) {
  const network = await startSimulatedNetwork({ quota });
  t.teardown(() => network.stop());
  const settings = { SIMULATED_NETWORK_URL: network.url };
  const { api } = await runGateway(t, { databaseUrl: null, settings });
  const path = (n: number, call = '') => `/sandbox/phones/${phoneNumber(n)}${call}`;
  const put = async (n: number, settings: object = {}) => {
    const { status } = await api.put(`${path(n)}?channel=msgapp_web`, settings);
    if (status !== 200) throw new Error(`the phone was refused: ${status}`);
  };
  const known = async (...phones: readonly number[]) => {
    const answers = await Promise.all(phones.map((n) => api.get(path(n))));
    return phones.filter((_, place) => answers[place]?.status === 200);
  };
  return { network, api, path, put, known };
}

t.test('a tenant with too many phones: the oldest go, those that are linked last', async (t) => {
  const { network, api, put, known } = await begin(t, { phones: 3 });
  await pair(api, phoneNumber(1));
  for (const n of [2, 3, 4, 5]) await put(n);
  t.same(await known(1, 2, 3, 4, 5), [1, 4, 5]);
  await put(4);
  await put(6);
  t.same(await known(1, 2, 3, 4, 5, 6), [1, 4, 6], 'a phone that was changed is the newest');

  const other = network.phone({ network: 'ten_other', channel: 'msgapp_web', phone: from.phone });
  await other.set({});
  t.same(await known(1, 4, 6), [1, 4, 6], 'another tenant has a quota of its own');
  for (const n of [2, 3]) {
    await pair(api, phoneNumber(n));
    await put(n);
  }
  t.same(await known(1, 2, 3, 4, 6), [1, 2, 3]);
  await pair(api, phoneNumber(7));
  const connection = `/channels/msgapp-web/connections/${phoneNumber(1)}/status`;
  const lost = await until('the account to notice', async () => {
    const body = bodyOf<{ status: string }>(await api.get(connection));
    return body.status === 'disconnected' ? body : undefined;
  });
  t.match(lost, { reason: 'session_lost' });
  t.same(await known(1, 2, 3, 7), [2, 3, 7]);
  t.equal((await other.view()).state, 'idle');
});

t.test('a tenant with too many messages: the oldest go', async (t) => {
  const { api, path, put } = await begin(t, { messages: 6 });
  const account_id = await pair(api, phoneNumber(1));
  await put(1, { send: 'sent' });
  const to = { phone: phoneNumber(1_000) };
  const ids: string[] = [];
  for (let n = 0; n < 8; n += 1) ids.push(await sendAccepted(api, { account_id, to }));
  await untilMessage(api, ids.at(-1) ?? '', 'sent');
  const kept = await outbox(api, phoneNumber(1));
  t.same(
    kept.map(({ message_id }) => message_id),
    ids.slice(-6),
  );

  // Each counts twice while it waits: what was written, and what the driver is to be offered.
  const written = `${path(2, '/inbound')}?channel=msgapp_web`;
  for (let n = 0; n < 9; n += 1) await api.post(written, { from, text: `number ${n}` });
  t.same(await outbox(api, phoneNumber(1)), []);
  await pair(api, phoneNumber(2));
  const arrived = await until('what is left to arrive', async () => {
    const answer = await api.get('/messages?direction=inbound');
    const texts = bodyOf<{ messages: readonly { text: string }[] }>(answer).messages.map(
      ({ text }) => text,
    );
    return texts.includes('number 8') ? texts : undefined;
  });
  t.same([...arrived].sort(), ['number 6', 'number 7', 'number 8']);
});

t.test(
  'a tenant that makes phones without end: the files stay as small as the quota',
  async (t) => {
    const mebibyte = 2 ** 20;
    const network = await startSimulatedNetwork({ quota: { bytes: mebibyte } });
    t.teardown(() => network.stop());
    const place = (n: number) => ({
      ...{ network: 'ten_a', channel: 'msgapp_web', phone: phoneNumber(n) },
    });
    const contacts = Array.from({ length: 1_000 }, (_, n) => ({
      phone: phoneNumber(n),
      name: 'x'.repeat(150),
    }));
    const count = scaled(400, 80);
    for (let n = 0; n < count; n += 1) await network.control.put(place(n), { contacts });
    t.same(await network.control.phone(place(0)), { refused: 'unknown_phone' });
    carriedOut(await network.control.phone(place(count - 1)));
    const folder = join(network.dataDir, 'simulated-network');
    const files = await Promise.all(
      (await readdir(folder)).map((file) => stat(join(folder, file))),
    );
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    // The quota, its slack of an eighth, and SQLite's log of up to 4 MiB beside the file.
    t.ok(bytes < 8 * mebibyte, `${(bytes / mebibyte).toFixed(1)} MiB`);
    const written = count * JSON.stringify(contacts).length;
    t.ok(written > 12 * mebibyte, `${(written / mebibyte).toFixed(1)} MiB were put`);
  },
);

t.test('a network that starts with a smaller quota keeps it from its first write on', async (t) => {
  const before = await startSimulatedNetwork();
  t.teardown(() => before.stop());
  const place = (n: number) => ({ network: 'ten_a', channel: 'msgapp_web', phone: phoneNumber(n) });
  for (const n of [1, 2, 3]) await before.control.put(place(n), {});
  await before.kill();
  const after = await startSimulatedNetwork({ dataDir: before.dataDir, quota: { phones: 2 } });
  t.teardown(() => after.stop());
  carriedOut(await after.control.phone(place(1)));
  await after.control.put(place(3), { send: 'sent' });
  t.same(await after.control.phone(place(1)), { refused: 'unknown_phone' });
  carriedOut(await after.control.phone(place(2)));
});

import t from 'tap';
import { client } from '../harness/client.ts';
import { crowd, tally } from '../harness/crowd.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import {
  befall,
  bodyOf,
  connected,
  loginCode,
  pair,
  phoneNumber,
  until,
  untilStatus,
} from '../harness/story.ts';
import { tenantOf } from './recorded.ts';
import { meets, type Refusal } from './refusals/refusal.ts';

const msgapp = '/channels/msgapp-web/connections';
const chatapp = '/channels/chatapp/connect';
const [linked, ended, pairing, loggingIn, fresh] = [1, 2, 3, 4, 5].map(phoneNumber) as [
  string,
  string,
  string,
  string,
  string,
];

t.test('nobody answers for the sessions', async (t) => {
  const { url: databaseUrl } = await engines.mariadb.create(t);
  const holder = await runGateway(t, { databaseUrl });
  const rows = openRows(t, databaseUrl);
  const account = await pair(holder.api, linked);
  await pair(holder.api, ended);
  await befall(holder.api, ended, { type: 'log_out' });
  await holder.api.post(msgapp, { phone_number: pairing });
  await holder.api.post(chatapp, { phone_number: loggingIn });
  await untilStatus(holder.api, 'msgapp', ended, 'disconnected');
  // Without a broker between them the two share the database, and cannot speak to each other.
  const front = await runGateway(t, {
    databaseUrl,
    dataDir: holder.dataDir,
    settings: {
      GATEWAY_SECRET: holder.secret,
      ROLES: 'api',
      GATEWAY_SESSIONS__REQUEST_TIMEOUT_S: '0.5',
      GATEWAY_LIMITS__REQUESTS_PER_S: '20',
    },
  });
  t.teardown(() => front.stop().then(() => undefined));
  const by = { id: await tenantOf(rows, account), api: front.api };
  const refused = (status: number, code: string, call: string, body?: object): Refusal => ({
    ...{ what: call, by, call, body, status, code },
    ...(status === 503 ? { header: '1' } : {}),
  });
  const unanswered: readonly Refusal[] = [
    refused(503, 'unavailable', `POST ${msgapp}`, { phone_number: fresh }),
    refused(503, 'unavailable', `POST ${msgapp}`, {
      phone_number: fresh,
      link_method: 'pairing_code',
    }),
    refused(503, 'unavailable', `POST ${msgapp}`, { phone_number: linked, force_new: true }),
    refused(503, 'unavailable', `POST ${msgapp}`, { phone_number: ended }),
    refused(503, 'unavailable', `POST ${chatapp}`, { phone_number: fresh }),
    refused(503, 'unavailable', `POST ${chatapp}`, { phone_number: fresh, mode: 'qr' }),
    refused(503, 'unavailable', `GET ${msgapp}/${pairing}/qr`),
    refused(502, 'connection_service_unreachable', `GET ${msgapp}/${linked}/status`),
    refused(502, 'connection_service_unreachable', `GET ${msgapp}/${pairing}/status`),
    refused(502, 'connection_service_unreachable', `GET ${chatapp}/${loggingIn}/status`),
    refused(502, 'connection_service_unreachable', `POST ${chatapp}/${loggingIn}/verify-code`, {
      code: await loginCode(holder.api, loggingIn),
    }),
    refused(502, 'connection_service_unreachable', `POST ${chatapp}/${loggingIn}/verify-password`, {
      password: 'x',
    }),
  ];
  const needNobody = async (): Promise<void> => {
    const status = await front.api.get(`${msgapp}/${ended}/status`);
    t.match(status, { status: 200, body: { status: 'disconnected', reason: 'logged_out' } });
    t.match(await front.api.get(`${msgapp}/${ended}/qr`), { status: 410 });
  };

  for (const refusal of unanswered) await meets(t, rows, refusal);
  await needNobody();
  t.match(await holder.api.get(`${chatapp}/${loggingIn}/status`), {
    body: { status: 'code_required' },
  });
  t.match(await holder.api.get(`${msgapp}/${linked}/status`), { body: { status: 'connected' } });
  t.match(
    await holder.api.get(`${msgapp}/${fresh}/status`),
    { status: 404 },
    'what was refused is not carried out afterwards',
  );
  const removed = { status: 200, body: { phone_number: linked, status: 'removed' } };
  t.match(await front.api.delete(`${msgapp}/${linked}`), removed, 'a delete needs nobody');
  await until('the holder to leave the network', async () => {
    const phone = await holder.api.get(`/sandbox/phones/${linked}`);
    return bodyOf<{ state: string }>(phone).state === 'logged_out' ? true : undefined;
  });

  t.equal(await holder.stop(), 0);
  for (const refusal of unanswered.filter(({ body }) => !JSON.stringify(body)?.includes(linked))) {
    if (!refusal.call.includes(linked)) await meets(t, rows, refusal);
  }
  await needNobody();
  for (const path of [`${msgapp}/${pairing}`, `/channels/chatapp/${loggingIn}`]) {
    t.match(await front.api.delete(path), { status: 200, body: { status: 'removed' } });
    t.match(await front.api.delete(path), { status: 404 });
  }

  const live = client(front.baseUrl, front.liveKey);
  const begunAt = performance.now();
  const answers = await crowd([live], 200, (api) => api.get('/usage'));
  const most = 40 + Math.ceil((20 * (performance.now() - begunAt)) / 1_000);
  const counts = tally(answers);
  const { 200: served = 0, '429 rate_limited': slowed = 0 } = counts;
  t.equal(served + slowed, 200, JSON.stringify(counts));
  t.ok(served >= 40 && served <= most, `twice the rate at once: ${served}, at most ${most}`);
  for (const { status, body, headers } of answers) {
    if (status !== 429) continue;
    t.strictSame(Object.keys(bodyOf({ status, body, headers })).sort(), [
      ...['error', 'error_code', 'retry_after_s'],
    ]);
    t.match(body, { retry_after_s: Number(headers.get('retry-after')) });
    break;
  }
  t.equal((await front.api.get('/usage')).status, 200, 'each key has a rate of its own');
});

t.test('every process is full', async (t) => {
  const { api, dataDir } = await runGateway(t, {
    databaseUrl: null,
    settings: { GATEWAY_SESSIONS__CAPACITY: '1' },
  });
  const rows = openRows(t, `sqlite:${dataDir}/gateway.db`);
  const by = { id: await tenantOf(rows, await pair(api, linked)), api };
  const [status, code] = [503, 'connection_service_at_capacity'];
  const body = { phone_number: fresh };
  for (const path of [msgapp, chatapp]) {
    await meets(t, rows, { what: path, by, call: `POST ${path}`, body, status, code, header: '1' });
  }
  const again = await api.post(msgapp, { phone_number: linked, force_new: true });
  t.equal(again.status, 200, 'its own place is no further one');
  t.equal((await api.delete(`${msgapp}/${linked}`)).status, 200);
  await pair(api, fresh);
  await connected(api, fresh);
});

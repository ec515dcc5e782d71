import t from 'tap';
import { generousLimits, runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import {
  bodyOf,
  type ConnectionStatus,
  pair,
  phoneNumber,
  scan,
  untilStatus,
} from '../harness/story.ts';
import { accountEvents, tenantOf } from './recorded.ts';

const msgapp = '/channels/msgapp-web/connections';
const chatapp = '/channels/chatapp/connect';

t.test('a link that nobody finishes ends by itself', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: {
      // Three connects are answered within it, and a scan, on a busy machine too.
      GATEWAY_SESSIONS__PAIRING_TIMEOUT_S: '10',
      GATEWAY_PLANS__GROWTH__ACCOUNTS_CAP: '2',
    },
  });
  const { api } = gateway;
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const [first, second, third] = [phoneNumber(1), phoneNumber(2), phoneNumber(3)];
  const begun = [
    await api.post(msgapp, { phone_number: first }),
    await api.post(chatapp, { phone_number: second }),
  ];
  const capped = await api.post(msgapp, { phone_number: third });
  t.match(capped, { status: 403, body: { error_code: 'account_cap' } }, 'pairing counts');
  const timedOut = { status: 'disconnected', reason: 'pairing_timeout' };
  t.match(await untilStatus(api, 'msgapp', first, 'disconnected'), timedOut);
  t.match(await untilStatus(api, 'chatapp', second, 'disconnected'), timedOut);
  const qr = await api.get(`${msgapp}/${first}/qr`);
  t.match(qr, { status: 410, body: { error_code: 'qr_expired' } });
  const late = await api.post(`${chatapp}/${second}/verify-code`, { code: '12345' });
  t.match(late, { status: 400, body: { error_code: 'invalid_code' } });
  t.match(await api.post(`/sandbox/phones/${first}/scan`), { status: 409 }, 'nothing to scan');
  for (const answer of begun) {
    const { account_id } = bodyOf<{ account_id: string }>(answer);
    t.strictSame(await accountEvents(rows, await tenantOf(rows, account_id), account_id), []);
  }
  t.match((await api.get('/usage')).body, { accounts_total: 2, accounts_connected: 0 });

  // Records of failed first pairings stay and do not count; whoever was connected once does.
  await pair(api, third);
  const again = await api.post(msgapp, { phone_number: first });
  t.match(again, {
    status: 200,
    body: { account_id: bodyOf<{ account_id: string }>(begun[0] ?? again).account_id },
  });
  await scan(api, first);
  await untilStatus(api, 'msgapp', first, 'connected');
  const full = await api.post(chatapp, { phone_number: second });
  t.match(full, { status: 403, body: { error_code: 'account_cap' } });
  await api.post(`/sandbox/phones/${third}/events`, { type: 'log_out' });
  await untilStatus(api, 'msgapp', third, 'disconnected');
  t.match(await api.post(chatapp, { phone_number: second }), { status: 403 }, 'until removed');
  t.equal((await api.delete(`${msgapp}/${third}`)).status, 200);
  t.equal((await api.post(chatapp, { phone_number: second })).status, 200);
});

t.test('a link whose process was killed', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...generousLimits, GATEWAY_SESSIONS__LEASE_S: '4' },
  });
  const { api } = gateway;
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const [pairing, loggingIn, linked] = [phoneNumber(1), phoneNumber(2), phoneNumber(3)];
  const anew = phoneNumber(4);
  const account = await pair(api, linked);
  const formerly = await pair(api, anew);
  const begun = [
    await api.post(msgapp, { phone_number: pairing }),
    await api.post(chatapp, { phone_number: loggingIn }),
  ];
  const forced = await api.post(msgapp, { phone_number: anew, force_new: true });
  t.match(forced, { status: 200, body: { account_id: formerly } });
  await gateway.kill();
  await gateway.start();
  for (const [family, phone] of [
    ['msgapp', pairing],
    ['chatapp', loggingIn],
  ] as const) {
    const found: ConnectionStatus = await untilStatus(api, family, phone, 'not_initialized');
    t.equal(found.reason, 'pairing_abandoned', `${family}: its steps were in that process`);
    t.match(found.detail, /cut short.*connect again/);
  }
  const again: ConnectionStatus = await untilStatus(api, 'msgapp', anew, 'not_initialized');
  t.equal(again.reason, 'pairing_abandoned', 'also where the connect has ended an earlier link');
  const { accounts } = bodyOf<{ accounts: { id: string; status: string }[] }>(
    await api.get('/accounts'),
  );
  const listed = accounts.find(({ id }) => id === formerly);
  t.match(listed, { status: 'disconnected', status_detail: again.detail }, 'as the list names it');
  await untilStatus(api, 'msgapp', linked, 'connected');
  const tenant = await tenantOf(rows, account);
  t.strictSame(
    await accountEvents(rows, tenant, account),
    ['account.connected connected null'],
    'a restart of what was linked raises nothing',
  );
  t.strictSame(
    await accountEvents(rows, tenant, formerly),
    ['account.connected connected null', 'account.disconnected disconnected logged_out'],
    'the connect has ended the earlier link, and the end of the linking raises nothing',
  );
  for (const answer of begun) {
    const { account_id } = bodyOf<{ account_id: string }>(answer);
    t.strictSame(await accountEvents(rows, tenant, account_id), []);
  }
  const qr = await api.get(`${msgapp}/${pairing}/qr`);
  t.match(qr, { status: 410, body: { error_code: 'qr_expired' } });
  await pair(api, pairing);
});

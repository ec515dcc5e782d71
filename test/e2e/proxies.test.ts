import t from 'tap';
import { doctor } from '../../config/commands/doctor.ts';
import type { Finding } from '../../config/doctor/finding.ts';
import { client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { friend } from '../harness/live-network.ts';
import { type ProxyServer, startHttpProxy, startSocksProxy } from '../harness/proxy-servers.ts';
import { openRows } from '../harness/rows.ts';
import { connected, pair, phoneNumber, sendAccepted, successOf, until } from '../harness/story.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const [msgapp, chatapp, socks, http] = await Promise.all([
  startNetwork(t),
  chatappNetwork(t),
  startSocksProxy(t),
  startHttpProxy(t),
]);
const gateway = await runGateway(t, {
  databaseUrl: null,
  settings: {
    ...msgapp.settings,
    ...chatapp.settings,
    GATEWAY_SESSIONS__ALLOW_PRIVATE_PROXIES: 'true',
    GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
  },
});
const api = client(gateway.baseUrl, gateway.liveKey);
const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
const phone = phoneNumber(1);
// Waits until as many accounts are connected as it links: there may be no other yet.
const [line] = await chatapp.link({ gateway, databaseUrl, count: 1 });
const path = '/channels/msgapp_web/connections';

interface AccountBody {
  readonly id: string;
  readonly proxy: string | null;
  readonly status: string;
  readonly status_detail: string | null;
}

const accountOf = async (id: string): Promise<AccountBody> => {
  const { accounts } = await successOf<{ accounts: AccountBody[] }>(api.get('/accounts'));
  const found = accounts.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no account ${id}`);
  return found;
};

/** Gives an account a proxy and waits until its session went through it. */
async function goThrough(id: string, proxy: ProxyServer): Promise<void> {
  const before = proxy.opened.length;
  const { url } = proxy;
  await successOf(api.patch(`/accounts/${id}`, { proxy: url }));
  await until(
    'a connection through the proxy',
    async () => proxy.opened.length > before || undefined,
  );
  await until('the account to be connected', async () => {
    return (await accountOf(id)).status === 'connected' || undefined;
  });
}

t.test('an address that is no proxy is refused by its field', async (t) => {
  for (const proxy of ['ftp://127.0.0.1:1', 'socks5://', 'http://h:1/path', 'http://a b:1', 'x']) {
    const refused = await api.post(path, { identifier: phone, proxy });
    t.equal(refused.status, 400, proxy);
    t.match(refused.body, { details: [{ path: 'body/proxy' }] }, proxy);
  }
  const refused = await api.post(path, {
    identifier: phone,
    proxy: 'http://no.such.host.invalid:1',
  });
  t.match(refused.body, { error_code: 'invalid_request', error: /proxy cannot be used: / });
});

let account = '';
t.test('the first connection goes through the proxy already', async (t) => {
  const body = { identifier: phone, proxy: socks.url };
  const begun = await successOf<{ account_id: string; step: { data: string } }>(
    api.post(path, body),
  );
  account = begun.account_id;
  await msgapp.network.scan(phone, begun.step.data);
  await connected(api, phone);
  const { host } = new URL(msgapp.places.url);
  t.ok(socks.opened.length >= 1);
  t.same([...new Set(socks.opened)], [host.replace('localhost', '127.0.0.1')]);
  t.equal((await accountOf(account)).proxy, `socks5://gateway:***@${new URL(socks.url).host}`);
  const rows = openRows(t, databaseUrl);
  const [row] = await rows.rows<{ proxy: string }>(
    'select proxy from accounts where proxy is not null',
  );
  t.match(row?.proxy, /^v1\./, 'sealed');
});

t.test('another proxy is taken at once, and messages go through', async (t) => {
  await goThrough(account, http);
  await sendAccepted(api, { account_id: account, to: { phone: friend }, text: 'through a proxy' });
  await until('the message', async () => {
    const shown = await msgapp.network.shown(phone);
    return shown.some(({ text }) => text === 'through a proxy') || undefined;
  });
  t.same([socks.refusals(), http.refusals()], [0, 0]);
});

t.test('chatapp goes through either kind', async (t) => {
  if (line === undefined) throw new Error('no line');
  for (const proxy of [socks, http]) {
    await goThrough(line.account, proxy);
    const text = `through ${new URL(proxy.url).protocol}`;
    await sendAccepted(api, { account_id: line.account, to: { phone: friend }, text });
    await until('the message', async () => {
      return (await chatapp.shown(line.phone)).includes(text) || undefined;
    });
  }
  t.same([socks.refusals(), http.refusals()], [0, 0]);
});

t.test('a proxy that is away is named as the reason, until the account goes without', async (t) => {
  await http.stop();
  const detail = await until('the reason', async () => {
    const { status, status_detail } = await accountOf(account);
    return status === 'connecting' && status_detail?.includes('proxy') ? status_detail : undefined;
  });
  t.match(detail, /The account connects through a proxy: it has to be up/);
  const { json } = await doctor({ DATA_DIR: gateway.dataDir, GATEWAY_SECRET: gateway.secret });
  const { findings } = json as { readonly findings: readonly Finding[] };
  const ofProxies = findings.filter(({ check }) => check === 'proxies');
  t.match(ofProxies, [
    {
      sentence: /^The proxy http:.*\*\*\*.* of 2 accounts cannot be connected to \(ECONNREFUSED\)/,
    },
  ]);
  const { proxy } = await successOf<AccountBody>(
    api.patch(`/accounts/${account}`, { proxy: null }),
  );
  t.equal(proxy, null);
  await connected(api, phone);
});

t.test('what else may be asked', async (t) => {
  const simulated = await pair(gateway.api, phoneNumber(2));
  const refused = await gateway.api.patch(`/accounts/${simulated}`, { proxy: socks.url });
  t.match(refused.body, { error: /proxy cannot be given: this channel connects directly/ });
  const foreign = await gateway.api.patch(`/accounts/${account}`, { proxy: null });
  t.match(foreign, { status: 404, body: { error_code: 'account_not_found' } });
  t.match(await api.patch(`/accounts/${account}`, {}), { status: 200, body: { id: account } });
});

t.test('a private address is refused unless the operator allows it', async (t) => {
  const guarded = await runGateway(t, {
    databaseUrl: null,
    settings: { ...msgapp.settings, GATEWAY_WEBHOOKS__ALLOW_PRIVATE_TARGETS: 'false' },
  });
  const answer = await client(guarded.baseUrl, guarded.liveKey).post(path, {
    identifier: phone,
    proxy: socks.url,
  });
  t.match(answer.body, {
    error: /^body\/proxy cannot be used: The host is not on the public internet$/,
    details: [{ path: 'body/proxy' }],
  });
});

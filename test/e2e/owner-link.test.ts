import t, { type Test } from 'tap';
import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { type CallHeaders, client } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { befall, bodyOf, pair, phoneNumber, scan, until, untilStatus } from '../harness/story.ts';

const msgapp = '/channels/msgapp-web/connections';
const linkOf = (phone: string, channel = 'msgapp_web') =>
  `/channels/${channel}/connections/${phone}/link`;

interface Shown {
  readonly status: number;
  readonly body: {
    readonly error_code?: string;
    readonly last_digits?: string;
    readonly restarts_left?: number;
    readonly step?: {
      readonly type: string;
      readonly data?: string;
      readonly code?: string;
    } | null;
  };
}

type Gateway = Awaited<ReturnType<typeof runGateway>>;

/** Calls what a link may call, without any key. */
async function withLink(
  { baseUrl }: Gateway,
  token: string | null,
  call: 'GET' | 'restart' = 'GET',
  body?: object,
): Promise<Shown> {
  const nobody = client(baseUrl, null);
  const headers: CallHeaders = token === null ? {} : { 'x-link-token': token };
  const answer = await (call === 'GET'
    ? nobody.get('/link', headers)
    : nobody.post('/link/restart', body, headers));
  return { status: answer.status, body: answer.body as Shown['body'] };
}

async function makeLink(t: Test, { api }: Gateway, phone: string): Promise<string> {
  const made = await api.post(linkOf(phone));
  t.equal(made.status, 200, JSON.stringify(made.body));
  const { url } = bodyOf<{ url: string }>(made);
  t.match(url, /\/console#\/link\/[\w-]{43}$/, 'the token stands behind the #');
  return url.slice(url.lastIndexOf('/') + 1);
}

const notFound = { status: 404, body: { error_code: 'link_not_found' } };
const used = { status: 410, body: { error_code: 'link_used' } };

/** A link ends with its linking. */
async function endsWithItsLinking(t: Test, gateway: Gateway): Promise<void> {
  const { api } = gateway;
  const phone = phoneNumber(2);
  t.match(await api.post(linkOf(phone)), {
    status: 404,
    body: { error_code: 'connection_not_found' },
  });

  await api.post(msgapp, { phone_number: phone });
  const replaced = await makeLink(t, gateway, phone);
  const token = await makeLink(t, gateway, phone);
  t.match(await withLink(gateway, replaced), notFound, 'a new link ends the one before');

  await api.post(msgapp, { phone_number: phone });
  t.match(await withLink(gateway, token), notFound, 'the tenant has connected anew');

  const another = await makeLink(t, gateway, phone);
  await api.delete(`${msgapp}/${phone}`);
  t.match(await withLink(gateway, another), notFound, 'the account is removed');
  t.match(await withLink(gateway, another, 'restart'), notFound);

  await pair(api, phone);
  await api.post(`/sandbox/phones/${phone}/events`, { type: 'log_out' });
  await untilStatus(api, 'msgapp', phone, 'disconnected');
  t.match(await api.post(linkOf(phone)), {
    status: 400,
    body: { error_code: 'step_not_awaited' },
  });
}

/** A link ends after five minutes, and guessing is slowed. */
async function endsAfterFiveMinutes(t: Test, gateway: Gateway, url: string): Promise<void> {
  const phone = phoneNumber(3);
  const { account_id } = bodyOf<{ account_id: string }>(
    await gateway.api.post(msgapp, { phone_number: phone }),
  );
  const token = await makeLink(t, gateway, phone);
  const connections = connect(url, createLog('silent'));
  t.teardown(() => connections.close());
  const link = await connections.write('links').where({ account_id }).first('expires_at');
  const leftMs = Number(link?.expires_at) - Date.now();
  t.ok(leftMs > 290_000 && leftMs <= 301_000, `${leftMs} ms`);
  await connections
    .write('links')
    .where({ account_id })
    .update({ expires_at: Date.now() - 1 });
  t.match(await withLink(gateway, token), notFound);
  t.match(await withLink(gateway, token, 'restart'), notFound);

  const guesses = await Promise.all(
    Array.from({ length: 80 }, (_, index) =>
      withLink(gateway, `${index}`.padStart(43, 'A')).then(({ status }) => status),
    ),
  );
  t.ok(guesses.includes(429), 'wrong tokens of one address are slowed');
  t.notOk(guesses.includes(200));
}

for (const engine of storyDatabases('sqlite')) {
  t.test(`a link shows the linking and nothing else, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const { api } = gateway;
    const phone = phoneNumber(1);
    const { account_id } = bodyOf<{ account_id: string }>(
      await api.post(msgapp, { phone_number: phone }),
    );
    const token = await makeLink(t, gateway, phone);
    const shown = await until('the first code', async () => {
      const answer = await withLink(gateway, token);
      return answer.body.step === null ? undefined : answer;
    });
    t.match(shown, { status: 200, body: { last_digits: phone.slice(-4), restarts_left: 3 } });
    t.equal(shown.body.step?.type, 'show_qr');
    // The code itself names the number: it is what the phone's owner is to scan.
    const text = JSON.stringify({ ...shown.body, step: null });
    for (const secret of [account_id, phone, token]) t.notMatch(text, secret);
    const elsewhere = { method: 'GET', path: '/accounts', headers: { 'x-link-token': token } };
    t.match(
      await client(gateway.baseUrl, null).raw(elsewhere),
      { status: 401 },
      'opens nothing else',
    );
    t.match(await withLink(gateway, null), notFound, 'without a token');
    t.match(await withLink(gateway, `${token.slice(0, -1)}_`), notFound, 'another token');
    t.match(await withLink(gateway, 'x'), notFound, 'no token at all');

    const typed = { link_method: 'pairing_code' };
    const restarted = await withLink(gateway, token, 'restart', typed);
    t.match(restarted.body.step, { type: 'show_code' });
    t.equal(restarted.body.restarts_left, 2);
    const wrong = await withLink(gateway, token, 'restart', { link_method: 'code' });
    t.match(wrong, { status: 400, body: { error_code: 'invalid_request' } });
    const unknown = await withLink(gateway, token, 'restart', { force_new: true });
    t.match(unknown, { status: 400, body: { error_code: 'invalid_request' } });
    const both = await Promise.all([1, 2, 3, 4].map(() => withLink(gateway, token, 'restart')));
    const statuses = both.map(({ status }) => status).sort();
    t.strictSame(statuses, [200, 200, 409, 409], 'of four at once two were left');
    t.match(
      both.find(({ status }) => status === 409),
      { body: { error_code: 'link_restart_cap' } },
    );

    const rows = openRows(t, database.url);
    const stored = JSON.stringify(await rows.rows('select * from links'));
    t.notMatch(stored, token, 'the token is stored hashed');
    t.notMatch(gateway.output(), token, 'and is in no log');

    await scan(api, phone);
    await untilStatus(api, 'msgapp', phone, 'connected');
    t.match(await withLink(gateway, token), used);
    t.match(await withLink(gateway, token, 'restart'), used);
    t.match(await api.post(linkOf(phone)), {
      status: 409,
      body: { error_code: 'already_connected' },
    });
    t.match((await api.get('/accounts')).body, { accounts: [{ status: 'connected' }] });
    await befall(api, phone, { type: 'log_out' });
    await untilStatus(api, 'msgapp', phone, 'disconnected');
    t.match(
      await withLink(gateway, token),
      used,
      'a device that is unlinked again is none to link',
    );
    t.match(await withLink(gateway, token, 'restart'), used);

    if (engine.name !== 'sqlite') return;
    await t.test('a link ends with its linking', (t) => endsWithItsLinking(t, gateway));
    await t.test('a link ends after five minutes, and guessing is slowed', (t) =>
      endsAfterFiveMinutes(t, gateway, database.url),
    );
  });
}

t.test('a gateway without the console makes no links', async (t) => {
  const settings = { GATEWAY_CONSOLE__ENABLED: 'false' };
  const { api } = await runGateway(t, { databaseUrl: null, settings });
  const phone = phoneNumber(4);
  await api.post(msgapp, { phone_number: phone });
  const refused = await api.post(linkOf(phone));
  t.match(refused, { status: 404, body: { error_code: 'not_found', error: /console/ } });
});

import t from 'tap';
import { errorTable } from '../../core/errors.ts';
import { client } from '../harness/client.ts';
import { bodyOf, sendAccepted, until, untilMessage } from '../harness/story.ts';
import { untilChanged } from '../harness/times.ts';
import { connectRefusals } from './refusals/connecting.ts';
import { readRefusals } from './refusals/reading.ts';
import { meets, type Refusal } from './refusals/refusal.ts';
import { capRefusals, sendRefusals } from './refusals/sending.ts';
import { webhookOperations, webhookRefusals } from './refusals/webhooks.ts';
import { numbers, refusalWorld } from './refusals/world.ts';

/** Codes that are met elsewhere: what one healthy process does not answer, drivers from outside, media, recoveries, owners' links, keys. */
const elsewhere = new Set([
  ...['scope_missing', 'key_not_found', 'key_cap', 'confirmation_required'],
  ...['unauthorized', 'wait_concurrency', 'qr_not_ready', 'rate_limited', 'internal_error'],
  ...['unavailable', 'connection_service_unreachable', 'connection_service_at_capacity'],
  ...['headers_too_large', 'media_gone', 'range_not_satisfiable'],
  ...['contact_required', 'step_not_awaited', 'driver_failed', 'recovery_running'],
  ...['link_not_found', 'link_used', 'link_restart_cap'],
]);

t.test('every refusal of one gateway', async (t) => {
  const world = await refusalWorld(t);
  const { gateway, rows, main, small } = world;
  const seen = new Set<string>();
  const all = async (t: Parameters<typeof meets>[0], refusals: readonly Refusal[]) => {
    for (const refusal of refusals) {
      seen.add(refusal.code);
      await meets(t, rows, refusal);
    }
  };

  await t.test('sending', async (t) => {
    await all(t, sendRefusals(world));
    const caps = capRefusals(world);
    await all(t, [caps.newContact(), caps.newContactAgain()]);
    const last = await sendAccepted(small.api, { to: { phone: numbers.ada } });
    await untilMessage(small.api, last, 'read');
    await all(t, [caps.send(), caps.sendAgain()]);
  });

  await t.test('reading', async (t) => {
    const first = async (path: string): Promise<string> =>
      bodyOf<{ next_cursor: string }>(await main.api.get(path)).next_cursor;
    const events = await main.api.get('/events?timeout_s=0');
    const cursors = {
      list: await first('/messages?limit=1'),
      wait: await first('/messages/wait?timeout_s=0'),
      contacts: await first('/contacts?limit=1'),
      events: bodyOf<{ cursor: string }>(events).cursor,
    };
    await all(t, readRefusals(world, cursors));
  });

  await t.test('connecting', (t) => all(t, connectRefusals(world)));

  await t.test('webhooks', async (t) => {
    await all(t, await webhookRefusals(world));
    await webhookOperations(t, world);
  });

  await t.test('a third wait', async (t) => {
    const over = new AbortController();
    const open = [20, 30].map((seconds) =>
      main.api.get(`/messages/wait?timeout_s=${seconds}`, {}, over.signal).catch(() => undefined),
    );
    await until('two open waits', async () => {
      const [row] = await rows.rows<{ n: number }>('select sum(slots) as n from waits');
      return Number(row?.n) === 2 ? true : undefined;
    });
    const call = 'GET /messages/wait?timeout_s=0';
    const [status, code] = [429, 'wait_concurrency'];
    const retryAfterS = [10, 20] as const;
    await meets(t, rows, { what: 'a third', by: main, call, status, code, retryAfterS });
    over.abort();
    await Promise.all(open);
  });

  await t.test('keys', async (t) => {
    const exactly = { success: false, error_code: 401, error: 'Invalid API key' };
    const { key, baseUrl } = gateway;
    const wrong: readonly Record<string, string>[] = [
      {},
      { 'x-api-key': 'wrong' },
      { 'x-api-key': '' },
      { authorization: 'Bearer wrong' },
      { authorization: key },
      { authorization: `Basic ${key}` },
      { authorization: `Bearer ${key}`, 'x-api-key': gateway.liveKey },
    ];
    const nobody = client(baseUrl, null);
    const document = await nobody.document();
    for (const [template, methods] of Object.entries(document.paths)) {
      for (const [method, { security }] of Object.entries(methods)) {
        if (security !== undefined) continue;
        const path = template.replaceAll(/\{[^}]+\}/g, '12025550001');
        const answer = await nobody.raw({ method: method.toUpperCase(), path });
        t.strictSame([answer.status, answer.body], [401, exactly], `${method} ${path}`);
      }
    }
    for (const headers of wrong) {
      const answer = await nobody.raw({ method: 'GET', path: '/usage', headers });
      t.strictSame([answer.status, answer.body], [401, exactly], JSON.stringify(headers));
    }
    const right: readonly Record<string, string>[] = [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}`, 'x-api-key': key },
    ];
    for (const headers of right) t.equal((await nobody.get('/usage', headers)).status, 200);
  });

  await t.test('the command line works within two seconds, both ways', async (t) => {
    const { commandLine } = world;
    const body = { account_id: world.accounts.msgapp, to: { phone: numbers.ada }, text: 'once' };
    const once = { ...body, to: { contact_id: world.contacts.ada } };
    const replay = () => main.api.post('/messages', once, { 'idempotency-key': 'taken' });
    const first = await replay();
    t.equal(first.status, 202);
    const inTime = async <Value>(what: string, ask: () => Promise<Value | undefined>) => {
      const { value, oldForMs } = await untilChanged(what, ask);
      t.ok(oldForMs <= 2_000, `${what}: not yet after ${Math.round(oldForMs)} ms`);
      return value;
    };
    await commandLine(['tenants', 'update', main.id, '--status', 'suspended']);
    const refused = await inTime('the suspension', async () => {
      const answer = await main.api.post('/messages', { ...body, text: 'x' });
      return answer.status === 403 ? answer.body : undefined;
    });
    t.match(refused, { error_code: 'account_suspended' });
    t.strictSame((await replay()).body, first.body, 'an answer once given is given again');
    const toldSo = async () => {
      const { status } = bodyOf<{ status: string }>(await main.api.get('/usage'));
      return status === 'suspended' ? status : undefined;
    };
    await inTime('the usage to say so', toldSo);
    t.equal((await main.api.get('/accounts')).status, 200, 'only sending is refused');
    const made = await commandLine<{ tenant: { id: string }; key: string }>([
      ...['tenants', 'create', '--name', 'New', '--mode', 'test', '--plan', 'small'],
    ]);
    const fresh = client(gateway.baseUrl, made.key);
    t.match((await fresh.get('/usage')).body, { plan: 'small', sends_cap: 2 });
    await commandLine([
      ...['tenants', 'update', made.tenant.id, '--status', 'suspended'],
      ...['--disable', 'api', '--plan', 'growth'],
    ]);
    await inTime('all changes', async () => {
      const sent = await fresh.post('/messages', { to: body.to, text: 'x' });
      const listed = await fresh.get('/accounts');
      const { plan } = bodyOf<{ plan: string }>(await fresh.get('/usage'));
      const changed = sent.status === 403 && listed.status === 404 && plan === 'growth';
      return changed ? true : undefined;
    });
  });

  const codes = Object.keys(errorTable).filter((code) => !elsewhere.has(code));
  t.strictSame(
    codes.filter((code) => !seen.has(code)),
    [],
    'every code was met',
  );
});

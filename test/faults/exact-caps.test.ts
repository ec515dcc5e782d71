import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Client, ClientAnswer } from '../harness/client.ts';
import { crowd, tally, untilItPasses } from '../harness/crowd.ts';
import { storyDatabases } from '../harness/databases.ts';
import { type Fleet, type FleetTenant, runFleet } from '../harness/fleet.ts';
import { pair, phoneNumber, until } from '../harness/story.ts';
import { untilChanged } from '../harness/times.ts';

/** How many ask at once, and how many of them may. */
const asking = 100;
const left = 7;
/** The windows of the guards: a test can wait for them, and a hundred requests fit in one half. */
const windowMs = 10_000;
/** How long waits last that are to end by themselves, seconds. */
const waitS = 10;
const openers = 25;
const loops = 10;
const cap = 20;

const settings = {
  GATEWAY_PLANS__SENDS: plan({ sends_cap: cap }),
  GATEWAY_PLANS__NEWCOMERS: plan({ new_contacts_cap: cap }),
  GATEWAY_PLANS__ACCOUNTS: plan({ accounts_cap: 1 + left }),
  // On the first of fourteen days a fourteenth, but at least twenty sends and five new contacts.
  GATEWAY_PLANS__RAMP: plan({ sends_cap: 100, new_contacts_cap: 30, ramp_days: 14 }),
  GATEWAY_PLANS__FREELY: plan({}),
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: String(openers),
  GATEWAY_LIMITS__OPENER_BURST__WINDOW_S: String(windowMs / 1000),
  GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: String(loops),
  GATEWAY_LIMITS__LOOP_GUARD__WINDOW_S: String(windowMs / 1000),
  GATEWAY_LIMITS__SAFETY__REFUSALS: '0',
};

function plan(given: object): string {
  const generous = { sends_cap: 100_000, new_contacts_cap: 100_000, accounts_cap: 1_000 };
  return JSON.stringify({ ...generous, ramp_days: 0, ...given });
}

const stranger = (n: number): string => phoneNumber(1000 + n);

function send(api: Client, phone: string, more: object = {}): Promise<ClientAnswer> {
  return api.post('/messages', { to: { phone }, text: 'exactly', ...more });
}

/** Sends to these people one after the other, all of which must be accepted. */
async function sendFirst(api: Client, phones: readonly string[], more: object = {}): Promise<void> {
  for (const phone of phones) {
    const answer = await send(api, phone, more);
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  }
}

async function usage(api: Client): Promise<Record<string, unknown>> {
  return (await api.get('/usage')).body as Record<string, unknown>;
}

/** The reasons of the limit events that were recorded for a tenant. */
async function limitEvents({ rows }: Fleet, tenant: FleetTenant): Promise<string[]> {
  const found = await rows.rows<{ payload: string }>(
    'select payload from events where tenant_id = ? and type = ?',
    [tenant.id, 'account.limit_reached'],
  );
  return found.map(({ payload }) => JSON.parse(payload).account.reason);
}

async function stored({ rows }: Fleet, table: string, tenant: FleetTenant): Promise<number> {
  const sql = 'select count(*) as n from ?? where tenant_id = ?';
  const [row] = await rows.rows<{ n: number }>(sql, [table, tenant.id]);
  return row?.n ?? Number.NaN;
}

const untilMidnightS = (): number => Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1000);

/** How many messages a tenant has received. */
async function received({ rows }: Fleet, tenant: FleetTenant): Promise<number> {
  const sql = "select count(*) as n from messages where tenant_id = ? and direction = 'inbound'";
  const [row] = await rows.rows<{ n: number }>(sql, [tenant.id]);
  return row?.n ?? Number.NaN;
}

/** Every refusal must tell the time until the next UTC midnight. @param latest that time when the first was asked for */
function toldMidnight(t: Test, latest: number, answers: readonly ClientAnswer[]): void {
  const midnight = untilMidnightS();
  const seconds = answers
    .filter(({ status }) => status === 429)
    .map(({ body }) => (body as { retry_after_s: number }).retry_after_s);
  const wrong = seconds.filter((one) => one < midnight || one > latest + 1);
  t.same(wrong, [], 'the refused are told the time until midnight');
}

/** Repeats what must happen early in one window, with another `n`, when the machine was too busy for that. */
async function withinWindow<Prepared, Value>(
  prepare: (n: number) => Promise<Prepared>,
  attempt: (prepared: Prepared) => Promise<Value>,
): Promise<Prepared & Value> {
  for (let n = 0; ; n += 1) {
    const prepared = await prepare(n);
    const begunAt = performance.now();
    const value = await attempt(prepared);
    if (performance.now() - begunAt < windowMs / 2 || n === 9) return { ...prepared, ...value };
  }
}

async function capOfSends(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('sends');
  await pair(tenant.api, phoneNumber(1));
  await sendFirst(tenant.api, Array(cap - left).fill(stranger(0)));
  const latest = untilMidnightS();
  const answers = await crowd(tenant.clients, asking, (api) => send(api, stranger(0)));
  t.same(tally(answers), { 202: left, '429 daily_send_cap': asking - left });
  toldMidnight(t, latest, answers);
  t.match(await usage(tenant.api), { sends: cap, sends_cap: cap, new_contacts: 1 });
  t.equal(await stored(fleet, 'messages', tenant), cap, 'what was refused left nothing behind');
  t.same(await limitEvents(fleet, tenant), ['daily_send_cap'], 'one event');
}

async function capOfNewContacts(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('newcomers');
  await pair(tenant.api, phoneNumber(1));
  const known = Array.from({ length: cap - left }, (_, n) => stranger(n));
  await sendFirst(tenant.api, known);
  const latest = untilMidnightS();
  const answers = await crowd(tenant.clients, asking, (api, n) => send(api, stranger(100 + n)));
  t.same(tally(answers), { 202: left, '429 new_contact_cap': asking - left });
  toldMidnight(t, latest, answers);
  t.match(await usage(tenant.api), { sends: cap, new_contacts: cap, new_contacts_cap: cap });
  t.equal(await stored(fleet, 'contacts', tenant), cap, 'the refused made no contact');
  t.same(await limitEvents(fleet, tenant), ['new_contact_cap'], 'one event');
  await sendFirst(tenant.api, known.slice(0, 2));
  // Fifty numbers, each asked for by two at once: a contact is made, and counted, once.
  const twins = await fleet.tenant('freely');
  const accounts = [await pair(twins.api, phoneNumber(1)), await pair(twins.api, phoneNumber(2))];
  const pairs = await crowd(twins.clients, 40, (api, n) =>
    send(api, stranger(Math.floor(n / 2) % 20), { account_id: accounts[n % 2] }),
  );
  t.same(tally(pairs), { 202: 40 });
  t.equal(await stored(fleet, 'contacts', twins), 20);
  t.match(await usage(twins.api), { sends: 40, new_contacts: 20 });
  // Ten people, each made by four at once, then written to by four at once: made once, and counted once.
  const made = await crowd(twins.clients, 40, (api, n) =>
    api.post('/contacts', { channel: 'msgapp_web', phone: stranger(200 + (n % 10)) }),
  );
  t.same(tally(made), { 200: 30, 201: 10 });
  t.equal(await stored(fleet, 'contacts', twins), 30);
  t.match(await usage(twins.api), { sends: 40, new_contacts: 20 }, 'not counted yet');
  const written = await crowd(twins.clients, 40, (api, n) =>
    send(api, stranger(200 + (n % 10)), { account_id: accounts[n % 2] }),
  );
  t.same(tally(written), { 202: 40 });
  t.match(await usage(twins.api), { sends: 80, new_contacts: 30 });
}

async function rampOfAnAccount(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('ramp', true);
  const more = { account_id: await pair(tenant.api, phoneNumber(1)) };
  const latest = untilMidnightS();
  const newcomers = await crowd(tenant.clients, asking, (api, n) => send(api, stranger(n), more));
  t.same(tally(newcomers), { 202: 5, '429 new_contact_cap': asking - 5 });
  const place = newcomers.findIndex(({ status }) => status === 202);
  await sendFirst(tenant.api, Array(cap - 5 - left).fill(stranger(place)), more);
  const answers = await crowd(tenant.clients, asking, (api) => send(api, stranger(place), more));
  t.same(tally(answers), { 202: left, '429 daily_send_cap': asking - left });
  toldMidnight(t, latest, [...newcomers, ...answers]);
  t.match(await usage(tenant.api), { sends: cap, new_contacts: 5, sends_cap: 100 });
  const { accounts } = (await tenant.api.get('/accounts')).body as { accounts: object[] };
  t.match(accounts, [{ ramp_day: 1, limits: { sends: cap, sends_cap: cap, new_contacts: 5 } }]);
  t.same(await limitEvents(fleet, tenant), [], "a ramp's refusal raises nothing");
}

async function openerBurst(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('freely');
  const { account_id, answers } = await withinWindow(
    async (n) => ({ account_id: await pair(tenant.api, phoneNumber(1 + n)) }),
    async ({ account_id }) => {
      const to = (place: number) => (api: Client, one: number) =>
        send(api, stranger(place + one), { account_id });
      const first = await crowd(tenant.clients, openers - left, to(0));
      t.same(tally(first), { 202: openers - left });
      return { answers: await crowd(tenant.clients, asking, to(100)) };
    },
  );
  t.same(tally(answers), { 202: left, '429 opener_burst': asking - left });
  t.equal((await send(tenant.api, stranger(0), { account_id })).status, 202, 'no opener, no guard');
  const passage = await untilItPasses(() => send(tenant.api, stranger(500), { account_id }));
  t.same(passage.untruths, [], 'retry_after_s is true to the second');
  t.ok(passage.refusals > 5, `refused ${passage.refusals} times before`);
}

async function loopGuard(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('freely');
  const phone = phoneNumber(1);
  await pair(tenant.api, phone);
  let written = 0;
  const { from, answers } = await withinWindow(
    async (n) => ({ from: stranger(n) }),
    async ({ from }) => {
      const arrived = await crowd(tenant.clients, loops, (api, one) =>
        api.post(`/sandbox/phones/${phone}/inbound`, { from: { phone: from }, text: `${one}` }),
      );
      t.same(tally(arrived), { 200: loops });
      written += loops;
      await until('what was written', async () =>
        (await received(fleet, tenant)) === written ? true : undefined,
      );
      await sendFirst(tenant.api, Array(loops - left).fill(from));
      return { answers: await crowd(tenant.clients, asking, (api) => send(api, from)) };
    },
  );
  t.same(tally(answers), { 202: left, '429 loop_guard': asking - left });
  t.equal((await send(tenant.api, stranger(99))).status, 202, 'others can be written to');
  const passage = await untilItPasses(() => send(tenant.api, from));
  t.same(passage.untruths, [], 'retry_after_s is true to the second');
  t.ok(passage.refusals > 5, `refused ${passage.refusals} times before`);
}

async function accountCap(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('accounts');
  await pair(tenant.api, phoneNumber(0));
  const connect = (api: Client, n: number): Promise<ClientAnswer> =>
    api.post('/channels/msgapp-web/connections', { phone_number: phoneNumber(n) });
  const answers = await crowd(tenant.clients, asking, (api, n) => connect(api, 1 + n));
  t.same(tally(answers), { 200: left, '403 account_cap': asking - left });
  t.match(await usage(tenant.api), { accounts_total: 1 + left, accounts_cap: 1 + left });
  const { accounts } = (await tenant.api.get('/accounts')).body as { accounts: object[] };
  t.equal(accounts.length, 1 + left);
  t.equal(await stored(fleet, 'accounts', tenant), 1 + left, 'the refused left no record');
}

async function idempotentTwins(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('freely');
  await pair(tenant.api, phoneNumber(1));
  const post = (api: Client, text: string, key: string): Promise<ClientAnswer> =>
    api.post('/messages', { to: { phone: stranger(1) }, text }, { 'idempotency-key': key });
  const key = randomUUID();
  const answers = await crowd(tenant.clients, 50, (api) => post(api, 'one', key));
  t.same(tally(answers), { 202: 50 });
  const bodies = new Set(answers.map(({ body }) => JSON.stringify(body)));
  t.equal(bodies.size, 1, 'all get the same body');
  t.match(await post(tenant.api, 'two', key), {
    status: 409,
    body: { error_code: 'idempotency_conflict' },
  });
  const late = await crowd(tenant.clients, tenant.clients.length, (api) => post(api, 'one', key));
  t.same(new Set([...bodies, ...late.map(({ body }) => JSON.stringify(body))]).size, 1);
  t.equal(await stored(fleet, 'messages', tenant), 1);

  const both = await crowd(tenant.clients, 50, (api, n) =>
    post(api, `${n % 4 < 2}`, 'of two minds'),
  );
  const agreeing = both.filter(({ status }) => status === 202).length;
  t.same(tally(both), { 202: agreeing, '409 idempotency_conflict': 50 - agreeing });
  t.ok([24, 26].includes(agreeing), 'those with the body of the first');
  t.equal(await stored(fleet, 'messages', tenant), 2, 'one message');
  t.match(await usage(tenant.api), { sends: 2, new_contacts: 1 });
}

/** How many slots the open waits of a tenant hold. */
async function slotsOf({ rows }: Fleet, tenant: FleetTenant): Promise<number> {
  const sql = 'select sum(slots) as n from waits where tenant_id = ?';
  const [row] = await rows.rows<{ n: number | string | null }>(sql, [tenant.id]);
  return Number(row?.n);
}

async function waits(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('freely');
  const wait = (api: Client, timeoutS: number, signal?: AbortSignal): Promise<ClientAnswer> =>
    api.get(`/messages/wait?timeout_s=${timeoutS}`, {}, signal);
  const open = (count: number): Promise<true> =>
    until(`${count} open waits`, async () =>
      (await slotsOf(fleet, tenant)) === count ? true : undefined,
    );
  const other = tenant.clients.at(-1) ?? tenant.api;

  const phone = phoneNumber(1);
  await pair(tenant.api, phone);
  let refused = 0;
  const thirty = crowd(tenant.clients, 30, async (api) => {
    const answer = await wait(api, 50);
    if (answer.status === 429) refused += 1;
    return answer;
  });
  // None ends before all have asked.
  await until('28 of 30 waits to be refused', async () => (refused === 28 ? true : undefined));
  const message = { from: { phone: stranger(1) }, text: 'ends them' };
  t.equal((await tenant.api.post(`/sandbox/phones/${phone}/inbound`, message)).status, 200);
  const answers = await thirty;
  t.same(tally(answers), { 200: 2, '429 wait_concurrency': 28 }, 'two of thirty at once');

  // Both have their answers only just: their places must be free on every process.
  const two = [wait(tenant.api, waitS), wait(other, waitS + 2)];
  await open(2);
  // Each request is as slow as the process whose wait ends first.
  const asked = async () => (await Promise.all([wait(other, 0), usage(tenant.api)]))[0];
  const passage = await untilItPasses(asked);
  t.same(passage.untruths, [], 'retry_after_s is true to the second');
  t.ok(passage.refusals > 5, `refused ${passage.refusals} times before`);
  const ended = await Promise.all(two);
  t.same(tally(ended), { 200: 2 });
  for (const { headers } of ended) {
    t.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  }
  await open(0);

  const aborted = new AbortController();
  const staying = new AbortController();
  const gone = [wait(tenant.api, 50, aborted.signal), wait(other, 50, staying.signal)];
  for (const one of gone) one.catch(() => undefined);
  await open(2);
  t.equal((await wait(tenant.api, 0)).status, 429);
  aborted.abort();
  const freed = await untilChanged('the slot of a wait that was aborted', async () =>
    (await asked()).status === 200 ? true : undefined,
  );
  const tookMs = Math.round(freed.oldForMs);
  t.ok(tookMs < 1_000 + freed.slowestMs, `not free ${tookMs} ms after it was aborted`);
  staying.abort();
  await open(0);

  const [, second] = fleet.gateways;
  if (second === undefined) return;
  const orphans = [wait(other, 50), wait(other, 50)];
  for (const one of orphans) one.catch(() => undefined);
  await open(2);
  await second.kill();
  t.equal((await wait(tenant.api, 0)).status, 429, 'nobody knows yet');
  const { oldForMs } = await untilChanged('the slots of the waits of a dead process', async () =>
    (await wait(tenant.api, 0)).status === 200 ? true : undefined,
  );
  t.ok(oldForMs < 10_000, `not free ${Math.round(oldForMs)} ms after their process was killed`);
}

// Most of the time goes by waiting for windows.
const engines = storyDatabases('mariadb');
t.jobs = engines.length;
for (const engine of engines) {
  t.test(`exact when many ask at once, ${engine.name}`, { buffered: true }, async (t) => {
    const untilMidnight = 86_400_000 - (Date.now() % 86_400_000);
    if (untilMidnight < 60_000) await sleep(untilMidnight);
    const fleet = await runFleet(t, engine, settings);
    t.test('daily send cap', (t) => capOfSends(t, fleet));
    t.test('new contacts', (t) => capOfNewContacts(t, fleet));
    t.test('warm-up ramp', (t) => rampOfAnAccount(t, fleet));
    t.test('opener burst', (t) => openerBurst(t, fleet));
    t.test('loop guard', (t) => loopGuard(t, fleet));
    t.test('account cap', (t) => accountCap(t, fleet));
    t.test('idempotent twins', (t) => idempotentTwins(t, fleet));
    // The last one kills a gateway.
    t.test('waits', (t) => waits(t, fleet));
    t.test('nothing went wrong on the way', async (t) => {
      // Without a broker on purpose: the database alone decides.
      const isExpected = (line: string) => line.includes('another process works on this database');
      for (const gateway of fleet.gateways) {
        const said = gateway
          .output()
          .split('\n')
          .filter((line) => !isExpected(line));
        t.notMatch(said.join('\n'), /"level":(40|50|60)/);
      }
    });
  });
}

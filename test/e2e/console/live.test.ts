import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import t, { type Test } from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { ownTenant } from '../../harness/own-tenant.ts';
import { openRows } from '../../harness/rows.ts';
import {
  commandLine,
  connected,
  pair,
  phoneNumber,
  receive,
  successOf,
  until,
} from '../../harness/story.ts';

const phone = phoneNumber(1);
const gateway = await runGateway(t, { databaseUrl: null });
const { api } = gateway;
const { origin } = new URL(gateway.baseUrl);
const accountId = await pair(api, phone);
const file = t;
let browser: Promise<Browser> | undefined;
let met = 0;

interface Person {
  readonly phone: string;
  readonly name: string;
}

/** A context of the test's own, in the browser of all tests of the file. */
async function newContext(t: Test, timeoutMs = 15_000): Promise<BrowserContext> {
  browser ??= startBrowser(file);
  const context = await (await browser).newContext();
  context.setDefaultTimeout(timeoutMs);
  t.teardown(() => context.close());
  return context;
}

/** Somebody who has written to the phone. */
async function withHello(name: string): Promise<Person> {
  met += 1;
  const person = { phone: phoneNumber(100 + met), name };
  await receive(api, phone, { from: person, text: 'Hello' });
  return person;
}

async function openTalk(page: Page, { name }: Person): Promise<void> {
  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name }).click();
  await page.getByRole('log').getByText('Hello').waitFor();
}

t.test('every tab reads anew when events were missed', { skip: skipWithoutBrowser }, async (t) => {
  const person = await withHello('Ada');
  const context = await newContext(t);
  let isOld = false;
  // A cursor is too old after days: its answer is made of another one.
  await context.route('**/v1/events?*', async (route) => {
    const response = await route.fetch().catch(() => null);
    if (response === null) return;
    const answer = (await response.json()) as { events: unknown[] };
    const isMissed = isOld && answer.events.length > 0;
    await route.fulfill({
      response,
      json: isMissed ? { ...answer, events: [], missed: true } : answer,
    });
  });
  const tabs = [await context.newPage(), await context.newPage()];
  for (const page of tabs) {
    await signIn(page, origin, gateway.key);
    await openTalk(page, person);
  }
  await receive(api, phone, { from: person, text: 'told by an event' });
  for (const page of tabs) await page.getByRole('log').getByText('told by an event').waitFor();
  isOld = true;
  await receive(api, phone, { from: person, text: 'told by none' });
  for (const [n, page] of tabs.entries()) {
    await page.getByRole('log').getByText('told by none').waitFor();
    t.pass(`tab ${n}`);
  }
  await context.unrouteAll({ behavior: 'ignoreErrors' });
});

t.test('an answer that is no refusal of the key', { skip: skipWithoutBrowser }, async (t) => {
  const person = await withHello('Grace');
  const page = await (await newContext(t)).newPage();
  await signIn(page, origin, gateway.key);
  await openTalk(page, person);
  const composer = page.getByLabel('Message to Grace');
  await composer.fill('a draft');
  const failed = { error_code: 'internal_error', error: 'Something went wrong on our side.' };
  const denied = { error_code: 'scope_missing', error: 'The key may not.' };
  const odd: readonly (readonly [string, Parameters<Route['fulfill']>[0]])[] = [
    ['a fault of the gateway', { status: 500, json: failed }],
    ['a refusal of this request', { status: 403, json: denied }],
    ["a proxy's page", { status: 404, contentType: 'text/html', body: '<p>Not found</p>' }],
    ['a page to log in', { status: 200, contentType: 'text/html', body: '<p>Log in</p>' }],
  ];
  for (const [what, answer] of odd) {
    await page.route('**/v1/events?*', (route) => route.fulfill(answer), { times: 1 });
    // Ends the poll that is open.
    await receive(api, phone, { from: person, text: `before ${what}` });
    await page.getByText('The gateway cannot be reached').first().waitFor();
    await page.getByText('The gateway cannot be reached').first().waitFor({ state: 'detached' });
    await receive(api, phone, { from: person, text: `after ${what}` });
    await page.getByRole('log').getByText(`after ${what}`).waitFor();
    t.equal(await composer.inputValue(), 'a draft', `${what}: the page stays as it was`);
  }

  const limited = { error_code: 'rate_limited', error: 'Too many requests.', retry_after_s: 1 };
  await page.route('**/v1/events?*', (route) => route.fulfill({ status: 429, json: limited }), {
    times: 1,
  });
  const answered = page.waitForResponse((response) => response.status() === 429);
  await receive(api, phone, { from: person, text: 'before too many requests' });
  await answered;
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))');
  t.equal(await page.getByText('Too many windows').count(), 0, 'too many requests are no windows');
  await receive(api, phone, { from: person, text: 'after too many requests' });
  await page.getByRole('log').getByText('after too many requests').waitFor();
});

t.test('what came before the first cursor is shown', { skip: skipWithoutBrowser }, async (t) => {
  const person = await withHello('Mary');
  const page = await (await newContext(t)).newPage();
  let hold: ((route: Route) => void) | null = null;
  await page.route('**/v1/events?*', async (route) => {
    const isFirst = !new URL(route.request().url()).searchParams.has('cursor');
    if (!isFirst || hold === null) return await route.continue();
    hold(route);
    hold = null;
  });
  /** The next request for a first cursor, held back. */
  const heldFirst = () =>
    new Promise<Route>((resolve) => {
      hold = resolve;
    });
  const first = heldFirst();
  await signIn(page, origin, gateway.key);
  await openTalk(page, person);
  await receive(api, phone, { from: person, text: 'told by no event' });
  await (await first).continue();
  await page.getByRole('log').getByText('told by no event').waitFor();
  t.pass('after signing in');

  const anew = heldFirst();
  const invalid = { error_code: 'invalid_cursor', error: 'The cursor is not valid.' };
  await page.route('**/v1/events?*', (route) => route.fulfill({ status: 400, json: invalid }), {
    times: 1,
  });
  await receive(api, phone, { from: person, text: 'the last before it' });
  const route = await anew;
  await page.getByRole('log').getByText('the last before it').waitFor();
  await receive(api, phone, { from: person, text: 'nor is this' });
  await route.continue();
  await page.getByRole('log').getByText('nor is this').waitFor();
  t.pass('after a cursor that is not valid any more');
});

t.test('others hold all event polls', { skip: skipWithoutBrowser }, async (t) => {
  const page = await (await newContext(t, 30_000)).newPage();
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/v1/events?*', (route) => held.then(() => route.continue()));
  await signIn(page, origin, gateway.key);
  const others = Array.from({ length: 5 }, () => api.get('/events?timeout_s=15'));
  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  await until('all polls to be held', async () => {
    const [row] = await rows.rows<{ n: number }>('select sum(slots) as n from waits');
    return Number(row?.n) === others.length || undefined;
  });
  goOn();
  await page.getByText('what is shown may be out of date').waitFor();
  t.pass('the page says that it is not kept current');
  for (const { status } of await Promise.all(others)) t.equal(status, 200);
  await page.getByText('what is shown may be out of date').waitFor({ state: 'detached' });
  const another = phoneNumber(2);
  await pair(api, another);
  await page.getByText(another).waitFor();
  t.pass('and goes on when one of them ends');
});

t.test('a gateway that hangs', { skip: skipWithoutBrowser }, async (t) => {
  const page = await (await newContext(t, 30_000)).newPage();
  // A page waits for events for as long as a minute.
  await page.addInitScript(`
    const { setTimeout } = window;
    window.times = 20;
    window.setTimeout = (run, ms) => setTimeout(run, ms > 30_000 ? ms / window.times : ms);
  `);
  const poll = page.waitForRequest(/\/v1\/events\?.*cursor=/);
  await signIn(page, origin, gateway.key);
  await poll;
  t.teardown(async () => gateway.thaw());
  await gateway.freeze();
  const away = page.getByRole('status').getByText('The gateway cannot be reached.');
  await away.waitFor();
  t.pass('is shown as away');
  await page.evaluate('window.times = 1');
  gateway.thaw();
  await pair(api, phoneNumber(3));
  await away.waitFor({ state: 'detached' });
  t.pass('and as there again');
});

t.test('a busy tenant', { skip: skipWithoutBrowser }, async (t) => {
  const person = await withHello('Joan');
  const page = await (await newContext(t)).newPage();
  await signIn(page, origin, gateway.key);
  await openTalk(page, person);
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().includes('/v1/conversations?')) reads += 1;
  });
  const busyMs = 5_000;
  const begun = Date.now();
  let sent = 0;
  const to = { account_id: accountId, to: { phone: person.phone } };
  while (Date.now() - begun < busyMs) {
    await api.post('/messages', { ...to, text: `message ${++sent}` });
    await sleep(100);
  }
  await page.getByRole('log').getByText(`message ${sent}`, { exact: true }).waitFor();
  const seconds = Math.ceil((Date.now() - begun) / 1_000);
  t.ok(sent > 2 * seconds, `${sent} messages in ${seconds} s`);
  t.ok(reads <= seconds + 1, `are read ${reads} times`);

  const setVisibility = (state: string) =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    `);
  await setVisibility('hidden');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  reads = 0;
  await receive(api, phone, { from: person, text: 'to a hidden tab' });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  t.equal(reads, 0, 'a hidden tab reads nothing');
  await setVisibility('visible');
  await page.getByRole('log').getByText('to a hidden tab').waitFor();
  t.ok(reads > 0, 'until it is shown');
});

t.test('what changes without an event', { skip: skipWithoutBrowser }, async (t) => {
  const { id, key, api } = await ownTenant(gateway, 'Quiet');
  const ada = phoneNumber(101);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const context = await newContext(t, 20_000);
  const [accounts, talk] = [await context.newPage(), await context.newPage()];
  for (const page of [accounts, talk]) await signIn(page, origin, key);
  await talk.goto(`${origin}/console#/conversations`);
  await talk.getByRole('link', { name: /Ada/ }).click();
  await talk.getByRole('log').getByText('Hello').waitFor();
  const badge = (text: string) => accounts.locator('.badge').getByText(text, { exact: true });
  await badge('Connected').waitFor();
  const draft = talk.getByLabel('Message to Ada');
  await draft.fill('a draft');
  const waits = talk.getByText('what you send waits until it is connected');

  await successOf(api.put('/sandbox/network', { reachable: false }));
  await badge('Connecting').waitFor();
  t.pass('an open list of accounts shows that the network is away');
  await waits.waitFor();
  t.pass('an open conversation says so');
  t.equal(await draft.inputValue(), 'a draft', 'and keeps the draft');

  await successOf(api.put('/sandbox/network', { reachable: true }));
  await connected(api, phone);
  await badge('Connected').waitFor();
  await waits.waitFor({ state: 'detached' });
  t.pass('and both show that it is back');

  const set = async (status: string) => {
    await commandLine(t, gateway, ['tenants', 'update', id, '--status', status]);
    // As when somebody comes back to the tab.
    await talk.evaluate("dispatchEvent(new Event('visibilitychange'))");
  };
  await set('suspended');
  const refused = talk.locator('.composer').getByText('The account holder is suspended');
  await refused.waitFor();
  t.pass('an open conversation says that its account holder is suspended');
  await talk.getByRole('button', { name: 'New message' }).click();
  const dialog = talk.getByRole('dialog');
  await dialog.getByText('The account holder is suspended').waitFor();
  await set('active');
  await refused.waitFor({ state: 'detached' });
  await dialog.getByText('The account holder is suspended').waitFor({ state: 'detached' });
  t.pass('and no longer, once it is active');
});

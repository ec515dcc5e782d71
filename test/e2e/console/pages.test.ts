import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  signIn,
  skipWithoutBrowser,
  startBrowser,
  violations,
  watchPage,
} from '../../harness/browser.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];
/** Changes by others are on the screen after this. */
const liveMs = 2_000;

/** What people may write to break a page. */
const hostile = [
  [
    '<img src=x onerror=alert(1)>',
    '</bdi></p><style>*{display:none}</style><script>alert(2)</script>',
  ],
  ['"onmouseover="alert(3)', '{{constructor.constructor("alert(4)")()}}<svg onload=alert(5)>'],
  ['\u202eevil', 'مرحبا، متى يصل الطلب؟'],
  ['N'.repeat(100), 'word '.repeat(500)],
] as const;

const pages = [
  'accounts',
  'connect',
  'conversations',
  'messages',
  'webhooks',
  'usage',
  'phones',
  'keys',
  'system',
];

/** Both widths and both schemes: what is wrong with one of them shows in either of these. */
const screens = [
  [1280, 'light'],
  [390, 'dark'],
] as const;

async function isNarrow(page: Page): Promise<boolean> {
  const [wide, inner] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  );
  return wide <= inner;
}

async function write(gateway: RunningGateway, phoneOf: string, name: string, text: string) {
  const body = { from: { phone: phoneOf, name }, text };
  const answer = await gateway.api.post(`/sandbox/phones/${phone}/inbound`, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** Every page with hostile texts in it: wide in the light, narrow in the dark. */
async function everyPage(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  for (const [n, [name, text]] of hostile.entries()) {
    await write(gateway, phoneNumber(200 + n), name, text);
  }
  const url = 'http://127.0.0.1:9/hook';
  const body = { url, subscribed_to: ['message.received'], name: '<b>hook</b>' };
  const hook = await gateway.api.post('/webhooks', body);
  const { webhook } = hook.body as { webhook: { id: string } };
  const conversations = await until('the hostile messages', async () => {
    const answer = await gateway.api.get('/conversations');
    const { conversations } = answer.body as {
      conversations: { account_id: string; contact: { id: string } }[];
    };
    return conversations.length > hostile.length ? conversations : undefined;
  });
  const talks = conversations.map((one) => `conversations/${one.account_id}/${one.contact.id}`);
  for (const [width, colorScheme] of screens) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const watched = watchPage(page, origin);
    await page.goto(`${origin}/console`);
    await page.getByLabel('API key').waitFor();
    t.same(await violations(page), [], `sign-in, ${width}, ${colorScheme}`);
    await signIn(page, origin, gateway.key);
    for (const name of [...pages, `webhooks/${webhook.id}`, ...talks]) {
      const what = `${name}, ${width}, ${colorScheme}`;
      await page.goto(`${origin}/console#/${name}`);
      await page.waitForSelector('.bones', { state: 'detached' });
      await page.getByRole('heading').first().waitFor();
      // Conversations differ in their texts alone.
      if (!talks.slice(1).includes(name)) t.same(await violations(page), [], what);
      t.ok(await isNarrow(page), `${what}: nothing is wider than the screen`);
    }
    t.same(watched, { faults: [], foreign: [] }, 'no script of a contact has run');
    t.equal(await page.locator('img[src="x"], svg[onload]').count(), 0);
    await context.close();
  }
}

/** Two browsers and a REST client see each other's changes; one request is open for two tabs of one browser. */
async function together(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  const contexts = [await browser.newContext(), await browser.newContext()];
  const screens: Page[] = [];
  for (const context of contexts) {
    const page = await context.newPage();
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: /Ada/ }).click();
    await page.getByRole('log').waitFor();
    screens.push(page);
  }
  const [one, other] = screens as [Page, Page];
  const shown = async (text: string, by: string, places: readonly Locator[]) => {
    await doneWithin(t, liveMs, `${by} is seen`, () =>
      Promise.all(places.map((place) => place.getByText(text).first().waitFor())),
    );
  };
  const logs = [one, other].map((page) => page.getByRole('log'));
  await one.getByLabel('Message to Ada').fill('from one browser');
  await one.getByRole('button', { name: 'Send', exact: true }).click();
  await shown('from one browser', 'what a browser sent', logs);
  await write(gateway, ada, 'Ada', 'from the contact');
  await shown('from the contact', 'what a contact wrote', logs);
  await gateway.api.post('/messages', { to: { phone: ada }, text: 'from a program' });
  await shown('from a program', 'what a program sent', logs);

  const tab = await contexts[0]?.newPage();
  if (tab === undefined) throw new Error('no tab');
  await signIn(tab, origin, gateway.key);
  await tab.goto(`${origin}/console#/conversations`);
  await tab.getByRole('link', { name: /Ada/ }).waitFor();
  const asked: string[] = [];
  // An open conversation reads every ten seconds what no event tells.
  const isAccounts = (url: string) => url.endsWith('/v1/accounts');
  let busyAt = performance.now();
  for (const page of [one, tab]) {
    const note = (url: string) => {
      if (!isAccounts(url) && !url.includes('/v1/events')) busyAt = performance.now();
    };
    page.on('request', (request) => asked.push(request.url()) && note(request.url()));
    page.on('requestfinished', (request) => note(request.url()));
  }
  await until('all to be read', async () => {
    const { body } = await gateway.api.get('/messages?direction=outbound');
    const { messages } = body as { messages: { status: string }[] };
    return messages.every(({ status }) => status === 'read') || undefined;
  });
  // What changed last is read within a second.
  await until('idle pages', async () => performance.now() - busyAt > 2_000 || undefined);
  asked.length = 0;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  t.ok(
    asked.filter(isAccounts).length <= 1,
    'idle, the accounts are asked for once in ten seconds',
  );
  const events = asked.filter((url) => !isAccounts(url));
  const others = events.filter((url) => !url.includes('/v1/events'));
  t.same(others, [], 'and nothing else but the events');
  t.ok(events.length <= 1, 'by one tab for both');
  await write(gateway, ada, 'Ada', 'to both tabs');
  await shown('to both tabs', 'in both tabs what a contact wrote', [tab.locator('body'), ...logs]);

  await gateway.kill();
  await one.getByText('The gateway cannot be reached').first().waitFor();
  await gateway.start();
  await write(gateway, ada, 'Ada', 'after the restart');
  await one.getByRole('log').getByText('after the restart').waitFor({ timeout: 20_000 });
  await one.getByText('The gateway cannot be reached').first().waitFor({ state: 'detached' });
  for (const context of contexts) await context.close();
}

/** A link for the phone's owner: from the page of the tenant to the phone, which sees nothing else. */
async function ownersLink(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  const theirs = phoneNumber(7);
  await gateway.api.post('/channels/msgapp-web/connections', { phone_number: theirs });
  const page = await (await browser.newContext()).newPage();
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/connect/msgapp_web/${encodeURIComponent(theirs)}`);
  await page.getByRole('button', { name: /Make a link for its owner/ }).click();
  const url = await page.getByText(/console#\/link\//).innerText();
  const other = await page.context().newPage();
  await other.goto(url);
  await other.getByRole('heading', { name: 'Link your phone' }).waitFor();
  t.equal(
    await other.getByRole('navigation').count(),
    0,
    'nothing of the tenant, though signed in',
  );
  const told: object = { status: 'connecting', reason: 'network_unreachable', step: null };
  await changeAnswers(other, '**/v1/link', told);
  await other.getByText('The network cannot be reached at the moment.').waitFor();
  Object.assign(told, { status: 'disconnected', reason: 'wrong_phone' });
  await other.getByText('Another phone was linked. Start again').waitFor();
  t.pass('why it is not linked');
  Object.assign(told, { restarts_left: 0 });
  await other.getByText('It cannot be started again').waitFor();
  await other.getByText('Another phone was linked.', { exact: true }).waitFor();
  t.equal(await other.getByText('Start again').count(), 0, 'nothing to start where no button is');
  Object.assign(told, { reason: 'misconfigured' });
  await other.getByText('The number could not be linked. Ask whoever sent you').waitFor();
  Object.assign(told, { reason: null });
  await other.getByText('The code has expired').waitFor();
  t.pass('and of its code only where there is no other reason');
  await other.unrouteAll({ behavior: 'wait' });

  const phoneOf = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ ...phoneOf, colorScheme });
    const screen = await context.newPage();
    const watched = watchPage(screen, origin);
    await screen.goto(url);
    await screen.getByText(`that ends in ${theirs.slice(-4)}`).waitFor();
    t.same(await violations(screen), [], `the link, ${colorScheme}`);
    t.ok(await isNarrow(screen), 'nothing is wider than the screen');
    t.equal(await screen.getByText(theirs).count(), 0, 'the number is not shown');
    t.same(watched, { faults: [], foreign: [] });
    if (colorScheme === 'light') continue;
    await screen.locator('.qr').waitFor();
    const overtaken = await holdLink(screen);
    await screen.getByRole('button', { name: 'Show a code to type' }).tap();
    await screen.locator('.pairing-code').waitFor();
    await screen.evaluate(`
      new MutationObserver(() => {
        window.isUndone ||= document.querySelector('.qr') !== null;
      }).observe(document.body, { childList: true, subtree: true });
    `);
    const next = screen.waitForRequest('**/v1/link');
    overtaken();
    await next;
    t.not(await screen.evaluate('window.isUndone'), true, 'an earlier answer undoes nothing');
    await screen.locator('.pairing-code').waitFor();
    await gateway.api.post(`/sandbox/phones/${theirs}/scan`);
    await screen.getByText('The number is connected.').waitFor();
    await page.getByText(`${theirs} is connected.`).waitFor();
  }
  for (const token of ['A'.repeat(43), '„no-token“']) {
    await other.goto(`${origin}/console#/connect`);
    await other.goto(`${origin}/console#/link/${token}`);
    await other.getByText('This link is not valid any more.').waitFor();
  }
  t.same(await violations(other), [], 'a link that has ended');
  await gateway.api.delete(`/channels/msgapp-web/connections/${theirs}`);
  await page.context().close();
}

/** Answers as the gateway does, but for some fields. */
async function changeAnswers(page: Page, url: string, fields: object): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), ...fields } });
  });
}

/** Holds the answer to the next read of a link; ends when that was read. @returns lets it go */
async function holdLink(page: Page): Promise<() => void> {
  const { promise: held, resolve: release } = deferred();
  const { promise: read, resolve: note } = deferred();
  const hold = async (route: Route) => {
    const response = await route.fetch();
    note();
    await held;
    await route.fulfill({ response });
  };
  await page.route('**/v1/link', hold, { times: 1 });
  await read;
  return release;
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A contact's details: what is held is exported as lines, then erased. */
async function erased(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  await write(gateway, phoneNumber(8), 'Grace', 'Please forget me.');
  const page = await (await browser.newContext()).newPage();
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name: /Grace/ }).click();
  await page.getByRole('button', { name: 'Contact', exact: true }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const lines = readFileSync(await (await downloading).path(), 'utf8')
    .trimEnd()
    .split('\n');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { type: 'contact', data: { name: 'Grace' } },
      { type: 'thread' },
      { type: 'message', data: { text: 'Please forget me.' } },
      { type: 'event' },
    ],
  );
  await page.getByRole('button', { name: 'Erase' }).click();
  t.same(await violations(page), [], 'the question');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).last().click();
  await page.getByText('Choose a conversation').waitFor();
  await page.getByRole('link', { name: /Grace/ }).waitFor({ state: 'detached' });
  await page.context().close();
}

/** What each page says while it loads, when the gateway fails and when its key ends meanwhile. */
async function troubled(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  const refused = { success: false, error_code: 401, error: 'Invalid API key' };
  const failed = { error_code: 'internal_error', error: 'Something went wrong on our side.' };
  const states: readonly (readonly [string, (route: Route) => Promise<void>, string])[] = [
    ['loading', async () => {}, '.bones'],
    ['failing', (route) => route.fulfill({ status: 500, json: failed }), '.problem'],
    ['unreachable', (route) => route.abort(), '.problem'],
    ['refused', (route) => route.fulfill({ status: 401, json: refused }), '.problem'],
  ];
  const open = pages.filter((name) => !['connect', 'messages', 'system'].includes(name));
  const context = await browser.newContext({ viewport: { width: 390, height: 700 } });
  const page = await context.newPage();
  await signIn(page, origin, gateway.key);
  for (const name of open) {
    for (const [state, answer, shown] of states) {
      await page.goto(`${origin}/console#/system`);
      await page.route('**/v1/**', answer);
      await page.goto(`${origin}/console#/${name}`);
      await page.locator(shown).first().waitFor();
      // Every page shows a state by the same part.
      if (name === open[0]) t.same(await violations(page), [], `${name}, ${state}`);
      t.ok(await isNarrow(page), `${name}, ${state}: nothing is wider than the screen`);
      const picture = process.env.PICTURES;
      if (picture !== undefined) await page.screenshot({ path: `${picture}/${name}-${state}.png` });
      await page.unroute('**/v1/**', answer);
    }
  }
  await context.close();
}

/** A key is made, shown once, may what was ticked, and is deleted. */
async function keys(t: Test, browser: Browser, gateway: RunningGateway): Promise<void> {
  const { origin } = new URL(gateway.baseUrl);
  const page = await (await browser.newContext()).newPage();
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/keys`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('<b>Agent</b>');
  await dialog.getByLabel('Send messages').uncheck();
  await dialog.getByLabel(phone).check();
  t.equal(await dialog.getByLabel('Manage keys').count(), 0, 'not for a key of some accounts');
  t.same(await violations(page), [], 'the form');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  const key = await dialog.getByText(/^gw_test_/).innerText();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const card = page.locator('section.card', { hasText: '<b>Agent</b>' });
  await card.getByText(phone).waitFor();
  t.notMatch(await page.content(), key, 'shown once');

  const other = await (await browser.newContext()).newPage();
  await signIn(other, origin, key);
  for (const name of ['Keys', 'Webhooks', 'Test phones']) {
    t.equal(await other.getByRole('link', { name }).count(), 0, `${name}: it may not`);
  }
  const blind = await gateway.api.post('/keys', { name: 'Sender', scopes: ['send'] });
  const third = await (await browser.newContext()).newPage();
  await third.goto(`${origin}/console`);
  await third.getByLabel('API key').fill((blind.body as { key: string }).key);
  await third.getByRole('button', { name: 'Sign in' }).click();
  await third.getByText('This key may not read.').waitFor();
  await third.context().close();
  await card.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).last().click();
  await card.waitFor({ state: 'detached' });
  await other.getByText('The gateway no longer accepts this key').waitFor({ timeout: 15_000 });
  for (const one of [page, other]) await one.context().close();
}

t.test('the pages of the console', { skip: skipWithoutBrowser, timeout: 480_000 }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { origin } = new URL(gateway.baseUrl);
  const browser = await startBrowser(t);
  await t.test('empty', async (t) => {
    const page = await browser.newPage();
    await signIn(page, origin, gateway.liveKey);
    t.equal(await page.getByRole('link', { name: 'Test phones' }).count(), 0, 'not for a live key');
    for (const [name, text] of [
      ['accounts', 'No number is connected yet.'],
      ['conversations', 'No conversation yet.'],
      ['webhooks', 'No address yet.'],
    ]) {
      await page.goto(`${origin}/console#/${name}`);
      await page.getByText(text ?? '').waitFor();
      t.same(await violations(page), [], `${name}, empty`);
    }
    await page.close();
  });
  await pair(gateway.api, phone);
  await write(gateway, ada, 'Ada', 'Hello! Is my order ready?');
  await t.test('every page', (t) => everyPage(t, browser, gateway));
  await t.test("an owner's link", (t) => ownersLink(t, browser, gateway));
  await t.test('a contact is erased', (t) => erased(t, browser, gateway));
  await t.test('in trouble', (t) => troubled(t, browser, gateway));
  await t.test('what the gateway needs', async (t) => {
    const page = await (await browser.newContext()).newPage();
    await page.clock.install();
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/system`);
    await page.getByText('Writing to the database').waitFor();
    t.equal(await page.getByText('Works', { exact: true }).count(), 4);
    const down = { status: 'unavailable', checks: { database: 'ok', broker: 'unavailable' } };
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: down }));
    await changeAnswers(page, '**/v1/me', { version: 'the next version' });
    await page.clock.fastForward(11_000);
    await page.getByText('Away', { exact: true }).waitFor();
    await page.getByText('the next version').waitFor();
    t.pass('is read again');
    await page.goto(`${origin}/console#/usage`);
    await page.getByText('Counters begin anew').waitFor();
    await changeAnswers(page, '**/v1/usage', { sends: 1_234 });
    await page.clock.fastForward(11_000);
    await page.getByText('1,234 of').waitFor();
    t.pass('and so is what was used');
    await page.context().close();
  });
  await t.test('a test phone is set to what was accepted, one thing at a time', async (t) => {
    const page = await (await browser.newContext()).newPage();
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/phones`);
    const choice = page.getByLabel('Messages that are sent from it').first();
    const { promise: held, resolve: release } = deferred();
    const refuse = async (route: Route) => {
      await held;
      await route.abort();
    };
    await page.route('**/v1/sandbox/phones/*', refuse, { times: 1 });
    await choice.selectOption('fail');
    t.ok(await choice.isDisabled());
    release();
    await page.getByText('its answer was lost').waitFor();
    t.equal(await choice.inputValue(), '', 'not set');
    await choice.selectOption('read');
    await page.getByText('its answer was lost').waitFor({ state: 'detached' });
    await until('the choice', async () => (await choice.inputValue()) === 'read' || undefined);
    await page.context().close();
  });
  await t.test('keys', (t) => keys(t, browser, gateway));
  await t.test('together', (t) => together(t, browser, gateway));
});

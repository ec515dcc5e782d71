import type { Page, Route } from 'playwright-core';
import t, { type Test } from 'tap';
import { signIn, skipWithoutBrowser, startBrowser, violations } from '../../harness/browser.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { bodyOf, pair, phoneNumber, receive, until } from '../../harness/story.ts';

const [shop, support] = [phoneNumber(1), phoneNumber(2)];
const [ada, other, grace] = [phoneNumber(101), phoneNumber(102), phoneNumber(103)];
/** More than a conversation shows at first. */
const later = 90;

interface Stage {
  readonly gateway: RunningGateway;
  readonly page: Page;
  readonly origin: string;
  readonly shopId: string;
}

t.test('the search for messages', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const shopId = await pair(api, shop);
  await pair(api, support);
  await receive(api, shop, { from: { phone: ada, name: 'Ada One' }, text: 'a needle' });
  await receive(api, shop, { from: { phone: other, name: 'Ada Two' }, text: 'of another' });
  // The number of one person is in the name of another.
  const from = { phone: phoneNumber(104), name: `Work ${other}` };
  await receive(api, shop, { from, text: 'from work' });
  await receive(api, support, { from: { phone: grace, name: 'Grace' }, text: 'to support' });
  for (let n = 1; n <= later; n += 1) {
    await api.post(`/sandbox/phones/${shop}/inbound`, { from: { phone: ada }, text: `hay ${n}` });
  }
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  const { origin } = new URL(gateway.baseUrl);
  await signIn(page, origin, gateway.key);
  const stage = { gateway, page, origin, shopId };
  await t.test('asks by person and account', (t) => byPerson(t, stage));
  await t.test('opens the conversation at the message', (t) => opens(t, stage));
  await t.test('is there again behind a conversation', (t) => comesBack(t, stage));
  await t.test('a message that is not there', (t) => missing(t, stage));
  await t.test('with a key for some accounts', (t) => limited(t, stage));
});

async function find(page: Page, person: string): Promise<void> {
  await page.getByLabel('Person').fill(person);
  await page.getByRole('button', { name: 'Find' }).click();
}

async function byPerson(t: Test, { page, origin }: Stage): Promise<void> {
  await page.goto(`${origin}/console#/messages`);
  const rows = page.locator('.rows summary');
  await find(page, 'grace');
  await rows.getByText('to support').waitFor();
  t.equal(await rows.count(), 1, 'one person of that name');

  await find(page, 'ada');
  await page.getByText('Whose messages?').waitFor();
  t.same(await violations(page), [], 'the choice');
  let refuse = () => {};
  const held = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const json = { error_code: 'internal_error', error: 'Something went wrong on our side.' };
  const answer = (route: Route) => held.then(() => route.fulfill({ status: 500, json }));
  await page.route('**/v1/messages?*', answer, { times: 1 });
  await page.getByRole('button', { name: 'Ada Two' }).click();
  await page.getByRole('button', { name: 'Ada One', disabled: true }).waitFor();
  t.pass('one answer at a time');
  refuse();
  await page.getByRole('button', { name: 'Try again' }).click();
  await rows.getByText('of another').waitFor();
  t.equal(await rows.count(), 1, 'who was chosen');
  t.equal(await page.getByLabel('Person').inputValue(), other);
  await page.getByRole('button', { name: 'Find' }).click();
  await rows.getByText('of another').waitFor();
  t.equal(await page.getByText('Whose messages?').count(), 0, 'is not asked for again');

  await find(page, 'nobody');
  await page.getByText('Nobody was found.').waitFor();
  await find(page, '');
  await page.getByLabel('Account').selectOption({ label: support });
  await page.getByRole('button', { name: 'Find' }).click();
  await rows.getByText('to support').waitFor();
  t.equal(await rows.count(), 1, 'the messages of one account');
  await find(page, 'ada');
  await page.getByText('Nobody was found.').waitFor();
  t.pass('nobody who writes with another account alone');
  await page.getByRole('button', { name: 'Clear' }).click();
}

async function opens(t: Test, { gateway, page }: Stage): Promise<void> {
  await page.getByLabel('Words of the text').fill('needle');
  await find(page, ada);
  await page.locator('.rows summary').getByText('a needle').click();
  await page.getByRole('link', { name: 'Open the conversation' }).click();
  const opened = page.locator('.bubble[aria-current]');
  await opened.getByText('a needle').waitFor();
  const isSeen = () =>
    page.evaluate<boolean>(`(() => {
      const log = document.querySelector('.messages').getBoundingClientRect();
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return document.activeElement.matches('[aria-current]') && top >= log.top && bottom <= log.bottom;
    })()`);
  const untilSeen = () =>
    until('the message to be seen', async () => (await isSeen()) || undefined);
  t.ok(await untilSeen(), 'the message is on the screen and has the focus');
  t.same(await violations(page), [], 'the conversation');
  const { api } = gateway;
  const read: URLSearchParams[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/v1/messages') read.push(searchParams);
  });
  await api.post(`/sandbox/phones/${shop}/inbound`, { from: { phone: ada }, text: 'the newest' });
  await page.getByRole('log').getByText('the newest').waitFor();
  t.ok(read.length > 0 && read.every((query) => !query.has('before')), 'the newest alone are read');
  t.equal(await page.locator('.bubble').count(), later + 2, 'and put to the others');
  // The page scrolls after it has painted.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))');
  t.ok(await isSeen(), 'it stays there when the contact writes');

  const naming = async (route: Route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { events: { payload: object }[] };
    const payloadOf = (event: { payload: object }) => ({
      ...event.payload,
      message: { id: `msg_${'1'.repeat(26)}` },
    });
    const events = answer.events.map((event) => ({ ...event, payload: payloadOf(event) }));
    await route.fulfill({ response, json: { ...answer, events } });
  };
  await page.route('**/v1/events?*', naming, { times: 1 });
  const write = async (text: string) => {
    await api.post(`/sandbox/phones/${shop}/inbound`, { from: { phone: ada }, text });
    await page.getByRole('log').getByText(text).waitFor();
  };
  // Ends the poll that is open.
  const poll = page.waitForRequest('**/v1/events?*');
  await write('beside an earlier one');
  await poll;
  read.length = 0;
  await write('with an earlier one');
  const isWhole = () => read.some((query) => query.has('before')) || undefined;
  await until('all to be read', async () => isWhole());
  t.pass('all are read where an event names an earlier one');
  await write('when all was just read');
  read.length = 0;
  await write('within minutes');
  t.notOk(isWhole(), 'but not at the next ones');
  await page.evaluate('{ const { now } = Date; Date.now = () => now() + 6 * 60_000; }');
  await write('minutes later');
  await until('all to be read', async () => isWhole());
  t.pass('and some minutes later, as the addresses of files expire');
  await page.getByLabel('Message to Ada One').fill('a draft');
  await page.locator('.talks a[aria-current]').click();
  await page.getByRole('log').getByText('a needle').waitFor({ state: 'detached' });
  t.equal(await opened.count(), 0, 'the newest are shown');
  t.equal(await page.getByLabel('Message to Ada One').inputValue(), 'a draft');

  let made = 0;
  // A conversation without an end in sight: the same page again and again, under other ids.
  const { messages } = bodyOf<{ messages: object[] }>(await api.get('/messages?limit=100'));
  await page.route('**/v1/messages?*', (route) => {
    const others = messages.map((message) => ({ ...message, id: `msg_${++made}` }));
    return route.fulfill({ json: { messages: others, next_cursor: 'more' } });
  });
  await page.goBack();
  const older = page.getByText('older than what was read so far');
  await older.waitFor({ timeout: 60_000 });
  t.ok(made > 2_000, `after ${made} messages`);
  const sought = made;
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().includes('/v1/contacts/')) reads += 1;
  });
  // One read after the other: when the second one begins the first one is over.
  for (const [index, text] of ['one more', 'and again'].entries()) {
    await api.post(`/sandbox/phones/${shop}/inbound`, { from: { phone: ada }, text });
    await until(`"${text}" to be read`, async () => reads > index || undefined);
  }
  t.ok(made - sought < 2_000, `it is not sought again: ${made - sought} messages were read`);
  t.ok(await older.isVisible(), 'and the page goes on saying so');
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Earlier messages' }).click();
  await opened.getByText('a needle').waitFor();
  t.ok(await untilSeen(), 'and is reached by reading on');
}

async function comesBack(t: Test, { gateway, page, origin }: Stage): Promise<void> {
  await page.goto(`${origin}/console#/messages`);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Words of the text').fill('hay');
  await page.getByRole('button', { name: 'Find' }).click();
  const rows = page.locator('.rows > li');
  await page.getByRole('button', { name: 'Show more' }).click();
  await rows.getByText('hay 1', { exact: true }).first().click();
  const found = await rows.count();
  t.ok(found > 50, `${found} messages`);
  await page.getByRole('link', { name: 'Open the conversation' }).click();
  await page.locator('.bubble[aria-current]').getByText('hay 1').waitFor();
  await page.goBack();
  await rows.first().waitFor();
  t.equal(await rows.count(), found, 'also those of further pages');
  t.equal(await page.getByLabel('Words of the text').inputValue(), 'hay');

  const { api } = gateway;
  const from = { phone: phoneNumber(105), name: 'Eve' };
  await receive(api, shop, { from, text: 'hay to be erased' });
  await page.getByRole('button', { name: 'Find' }).click();
  const erased = rows.getByText('hay to be erased').first();
  await erased.waitFor();
  await rows.getByText('hay 90', { exact: true }).first().click();
  await page.getByRole('link', { name: 'Open the conversation' }).click();
  await page.locator('.bubble[aria-current]').getByText('hay 90').waitFor();
  const path = `/contacts?phone=${encodeURIComponent(from.phone)}`;
  const { contacts } = bodyOf<{ contacts: { id: string }[] }>(await api.get(path));
  t.equal((await api.delete(`/contacts/${contacts[0]?.id}`)).status, 200);
  await page.goBack();
  await rows.getByText('hay 90', { exact: true }).first().waitFor();
  t.equal(await erased.count(), 0, 'without what was erased meanwhile');
}

async function missing(t: Test, { gateway, page, origin, shopId }: Stage): Promise<void> {
  const { api } = gateway;
  const { messages } = bodyOf<{ messages: { id: string; contact: { id: string } }[] }>(
    await api.get('/messages?q=another'),
  );
  const [found] = messages;
  const { contacts } = bodyOf<{ contacts: { id: string }[] }>(
    await api.get(`/contacts?phone=${encodeURIComponent(ada)}`),
  );
  const [contact] = contacts;
  const gone = page.getByText('The message is no longer here');
  const unknown = `msg_${'0'.repeat(26)}`;
  for (const id of [unknown, found?.id ?? '']) {
    await page.goto(`${origin}/console#/conversations/${shopId}/${contact?.id}/${id}`);
    await gone.waitFor();
    await page.getByRole('log').getByText('the newest').waitFor();
    t.equal(await page.locator('.bubble[aria-current]').count(), 0, 'the newest are shown');
    await page.goto(`${origin}/console#/messages`);
  }
  await page.getByLabel('Id of the message').fill('wait');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('No message was found.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  t.equal((await api.delete(`/contacts/${found?.contact.id}`)).status, 200);
  const path = `conversations/${shopId}/${found?.contact.id}/${found?.id}`;
  await page.goto(`${origin}/console#/${path}`);
  t.match(await page.getByRole('alert').innerText(), /contact_not_found/, 'an erased contact');
}

async function limited(t: Test, { gateway, page, origin, shopId }: Stage): Promise<void> {
  const body = { name: 'Shop', scopes: ['read'], account_ids: [shopId] };
  const { key } = bodyOf<{ key: string }>(await gateway.api.post('/keys', body));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page, origin, key);
  await page.goto(`${origin}/console#/messages`);
  const options = page.getByLabel('Account').locator('option');
  await options.nth(1).waitFor({ state: 'attached' });
  t.same(await options.allInnerTexts(), ['All accounts', shop]);
  await find(page, 'grace');
  await page.getByText('Nobody was found.').waitFor();
  await find(page, 'ada one');
  await page.locator('.rows summary').getByText('the newest').waitFor();
  t.pass('its own are found');

  const rows = page.locator('.rows > li');
  const shown = await rows.count();
  const more = page.getByRole('button', { name: 'Show more' });
  const failed = { error_code: 'internal_error', error: 'Something went wrong.' };
  const fail = (route: Route) => route.fulfill({ status: 500, json: failed });
  await page.route('**/v1/messages?*', fail, { times: 1 });
  await more.click();
  await page.getByRole('button', { name: 'Try again' }).click();
  await more.waitFor({ state: 'detached' });
  t.ok((await rows.count()) > shown, 'also where further ones were not read at first');
}

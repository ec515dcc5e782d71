import type { Route } from 'playwright-core';
import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, receive } from '../../harness/story.ts';

const phone = phoneNumber(1);
/** More than the list reads pages at once. */
const count = 8;

t.test('the list of conversations', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  await pair(api, phone);
  for (let n = 1; n <= count; n += 1) {
    const from = { phone: phoneNumber(100 + n), name: `Ada ${n}` };
    await receive(api, phone, { from, text: `Hello ${n}` });
  }
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  await signIn(page, origin, gateway.key);
  const more = page.getByRole('button', { name: 'Show more' });

  await t.test('goes on to its end, however short its pages are', async (t) => {
    // Tens of thousands of messages make pages short: these are pages of one.
    const short = async (route: Route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '1');
      await route.fulfill({ response: await route.fetch({ url: url.href }) });
    };
    await page.route('**/v1/conversations?*', short);
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: `Ada ${count}` }).waitFor();
    await more.click();
    await page.getByRole('link', { name: 'Ada 1' }).waitFor();
    t.equal(await page.locator('.talks li').count(), count);
    await more.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  await t.test('says that a search has not reached the end', async (t) => {
    let reads = 0;
    // Many contacts make pages of a search empty: these are the first ones.
    const empty = async (route: Route) => {
      const url = new URL(route.request().url());
      if (!url.searchParams.has('q')) return route.continue();
      url.searchParams.set('limit', '1');
      const response = await route.fetch({ url: url.href });
      const answer = (await response.json()) as { conversations: unknown[] };
      const isEmpty = url.searchParams.has('before') ? ++reads < count - 1 : true;
      if (!url.searchParams.has('before')) reads = 0;
      return route.fulfill({
        response,
        json: isEmpty ? { ...answer, conversations: [] } : answer,
      });
    };
    await page.route('**/v1/conversations?*', empty);
    await page.getByLabel('Search').fill('ada');
    await page.getByText('The search has not reached the end yet.').waitFor();
    t.equal(await page.getByText('Nobody was found.').count(), 0);
    await more.click();
    await page.getByRole('link', { name: 'Ada 1' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByLabel('Search').fill('nobody');
    await page.getByText('Nobody was found.').waitFor();
    t.pass('and that it has');
    await page.getByLabel('Search').fill('');
  });

  await t.test('marks the one that is open, of two accounts with the same person', async (t) => {
    await pair(api, phoneNumber(2));
    const from = { phone: phoneNumber(101), name: 'Ada 1' };
    await receive(api, phoneNumber(2), { from, text: 'Hello to the other' });
    await page.getByRole('link', { name: /Hello to the other/ }).click();
    await page.getByRole('log').getByText('Hello to the other').waitFor();
    const marked = page.locator('.talks [aria-current]');
    t.equal(await marked.count(), 1);
    t.match(await marked.innerText(), /Hello to the other/);
  });

  /** Whoever writes is known by a hidden id and by a number, which turn out to be one person. */
  const writes = async (from: object, text: string) => {
    const answer = await api.post(`/sandbox/phones/${phone}/inbound`, { from, text });
    t.equal(answer.status, 200);
  };
  for (const [name, opened, hidden] of [
    ['Grace', 'the number', 'hidden-1'],
    ['Mary', 'the hidden id', 'hidden-2'],
  ] as const) {
    await t.test(`goes on with ${opened} when two contacts become one`, async (t) => {
      const number = phoneNumber(name === 'Grace' ? 201 : 202);
      const byNumber = { phone: number, name: `${name} by number` };
      const byId = { network_id: hidden, name: `${name} by id` };
      // The younger one is opened: its id becomes an alias.
      const [older, younger] = opened === 'the number' ? [byId, byNumber] : [byNumber, byId];
      await page.goto(`${origin}/console#/conversations`);
      await writes(older, 'from the older');
      await page.getByRole('link', { name: older.name }).waitFor();
      await writes(younger, 'from the younger');
      await page.getByRole('link', { name: younger.name }).click();
      const log = page.getByRole('log');
      await log.getByText('from the younger').waitFor();
      const draft = page.getByRole('textbox', { name: 'Message to' });
      await draft.fill('a draft');
      await writes({ phone: number, network_id: hidden }, 'from both');
      await log.getByText('from both').waitFor();
      await log.getByText('from the older').waitFor();
      await writes({ phone: number, network_id: hidden }, 'and once more');
      await log.getByText('and once more').waitFor();
      t.equal(await draft.inputValue(), 'a draft');
      const marked = page.locator('.talks [aria-current]');
      await marked.getByText('and once more').waitFor();
      t.equal(await marked.count(), 1, 'the list marks its row');
    });
  }

  await t.test('shows what becomes its own above the newest messages', async (t) => {
    const number = phoneNumber(203);
    const [byId, byNumber] = [
      { network_id: 'hidden-3', name: 'Joan by id' },
      { phone: number, name: 'Joan by number' },
    ];
    await writes(byId, 'the first of all');
    await writes(byNumber, 'from the number');
    for (let n = 1; n <= 40; n += 1) await writes(byId, `message ${n}`);
    await page.getByRole('link', { name: byId.name }).click();
    const log = page.getByRole('log');
    await page.getByRole('button', { name: 'Earlier messages' }).click();
    await log.getByText('the first of all').waitFor();
    t.equal(await log.getByText('from the number').count(), 0);
    await writes({ phone: number, network_id: 'hidden-3' }, 'from both');
    await log.getByText('from the number').waitFor();
    t.pass('also with a contact whose id stays');
  });
});

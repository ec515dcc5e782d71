import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, receive, successOf } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];
/** A place, a moment when it is another day there than in UTC, that day, and when it began. */
const places = [
  ['Pacific/Kiritimati', '2026-03-08T10:30:00Z', '2026-03-09', '2026-03-08T10:00:00.000Z'],
  ['America/New_York', '2026-01-05T03:00:00Z', '2026-01-04', '2026-01-04T05:00:00.000Z'],
] as const;

const yearMs = 366 * 86_400_000;

t.test('days as the console shows and takes them', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  const browser = await startBrowser(t);

  await t.test('with the year where it is another one', async (t) => {
    await pair(api, phone);
    const { created_at } = await receive(api, phone, {
      from: { phone: ada, name: 'Ada' },
      text: 'a year ago',
    });
    const yearLater = new Date(Date.parse(created_at) + yearMs);
    // On the last day of a year, 366 days end after the next one.
    const [year, laterYear] = [new Date(created_at), yearLater].map((day) => day.getUTCFullYear());
    const expires_at = yearLater.toISOString();
    await successOf(api.post('/keys', { name: 'Agent', expires_at }));
    const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-US' });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    await signIn(page, origin, gateway.key);
    const expires = page.locator('section.card', { hasText: 'Agent' }).locator('time').first();
    await page.goto(`${origin}/console#/keys`);
    t.match(await expires.innerText(), new RegExp(`^\\w+ \\d+, ${laterYear}$`));
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('link', { name: /Ada/ }).click();
    const day = page.locator('.day').first();
    t.match(await day.innerText(), /^\w+ \d+$/, 'this year');
    await page.clock.setFixedTime(yearLater);
    await page.reload();
    t.match(await day.innerText(), new RegExp(`^\\w+ \\d+, ${year}$`), 'a year later');
    await context.close();
  });

  await t.test('a key of one that ends ends with it, or earlier', async (t) => {
    const expires_at = new Date(Date.now() + 10 * 86_400_000).toISOString();
    const body = { name: 'Ending', expires_at };
    const { key } = await successOf<{ key: string }>(api.post('/keys', body));
    const context = await browser.newContext();
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    await signIn(page, origin, key);
    await page.goto(`${origin}/console#/keys`);
    const endOf = (name: string) =>
      page.locator('section.card', { hasText: name }).locator('time').first().getAttribute('title');
    const end = await endOf('Ending');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const dialog = page.getByRole('dialog');
    const choices = await dialog.getByLabel('Expires').locator('option').allInnerTexts();
    t.same(choices, [end, 'In a day'], 'none that is refused');
    await dialog.getByLabel('Name').fill('Child');
    await dialog.getByRole('button', { name: 'Make the key' }).click();
    t.equal(await endOf('Child'), end, 'as the form says');
    await context.close();
  });

  await t.test('as they are called, of days in UTC', async (t) => {
    const { days } = await successOf<{ days: { day: string }[] }>(api.get('/usage/days'));
    const names = new Intl.DateTimeFormat('en-US', {
      ...{ month: 'short', day: 'numeric', timeZone: 'UTC' },
    });
    const last =
      days
        .map(({ day }) => day)
        .sort()
        .at(-1) ?? '';
    for (const timezoneId of ['Pacific/Kiritimati', 'America/New_York']) {
      const context = await browser.newContext({ timezoneId, locale: 'en-US' });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      await signIn(page, origin, gateway.key);
      await page.goto(`${origin}/console#/usage`);
      await page.getByText('As a table').click();
      const shown = await page.locator('tbody td').first().innerText();
      t.equal(shown.split(',')[0], names.format(new Date(last)), timezoneId);
      await context.close();
    }
  });

  await t.test('to their end, when the clock changes too', async (t) => {
    const context = await browser.newContext({ timezoneId: 'Europe/Berlin' });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/messages`);
    for (const [day, until] of [
      ['2026-03-29', '2026-03-29T22:00:00.000Z'],
      ['2026-10-25', '2026-10-25T23:00:00.000Z'],
    ] as const) {
      await page.getByLabel('To day').fill(day);
      const asking = page.waitForRequest((request) => request.url().includes('until='));
      await page.getByRole('button', { name: 'Find' }).click();
      t.equal(new URL((await asking).url()).searchParams.get('until'), until, day);
    }
    await context.close();
  });

  await t.test('a webhook is recovered since the day that it is', async (t) => {
    const body = { url: 'http://127.0.0.1:9/hook', subscribed_to: ['message.received'] };
    const { webhook } = await successOf<{ webhook: { id: string } }>(api.post('/webhooks', body));
    for (const [timezoneId, now, day, since] of places) {
      const context = await browser.newContext({ timezoneId });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      await page.clock.setFixedTime(new Date(now));
      await signIn(page, origin, gateway.key);
      await page.goto(`${origin}/console#/webhooks/${webhook.id}`);
      const field = page.locator('input[type=date]');
      t.equal(await field.inputValue(), day, timezoneId);
      const asking = page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/recover'),
      );
      await field.locator('xpath=ancestor::form').locator('button[type=submit]').click();
      t.match((await asking).postDataJSON(), { since }, 'its midnight');
      await context.close();
    }
  });
});

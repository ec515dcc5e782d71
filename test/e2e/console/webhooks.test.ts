import type { Locator, Page, Route } from 'playwright-core';
import t from 'tap';
import { pagesOf, signIn, skipWithoutBrowser } from '../../harness/browser.ts';
import type { ClientAnswer } from '../../harness/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { startProcess } from '../../harness/processes.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { bodyOf, pair, phoneNumber, receive, until } from '../../harness/story.ts';

interface Webhook {
  readonly retries_enabled: boolean;
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly subscribed_to: readonly string[];
  readonly health: { readonly is_disabled: boolean };
}

const phone = phoneNumber(1);
const file = t;
let usual: ReturnType<typeof runGateway> | undefined;

const newPage = pagesOf(file);

/** The gateway of the tests without settings of their own. */
function usualGateway(): ReturnType<typeof runGateway> {
  usual ??= runGateway(file, { databaseUrl: null });
  return usual;
}

/** A double click whose second click comes when the first has been answered and the button is there again. */
async function clickTwice(page: Page, button: Locator, path: string): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().endsWith(path));
  await button.click();
  await answered;
  await button.and(page.locator('[aria-busy=false]')).dispatchEvent('click', { detail: 2 });
  // A request that the second click had made would be out before this one.
  await page.evaluate("fetch('v1/me').then(({ status }) => status)");
}

t.test('a webhook changes in what was changed alone', { skip: skipWithoutBrowser }, async (t) => {
  const settings = {
    GATEWAY_WEBHOOKS__PAUSE_AFTER_FAILURES: '1',
    GATEWAY_WEBHOOKS__PAUSE_AFTER_S: '0',
  };
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  const receiver = await startReceiver(t, () => 500);
  const subscribed_to = ['message.received', 'message.read'];
  await api.post('/webhooks', { url: receiver.url(), subscribed_to, retries_enabled: false });
  const listed = async () => {
    const { webhooks } = bodyOf<{ webhooks: Webhook[] }>(await api.get('/webhooks'));
    const [webhook] = webhooks;
    if (webhook === undefined) throw new Error('there is no webhook');
    return webhook;
  };
  await pair(api, phone);
  await receive(api, phone, { from: { phone: phoneNumber(101) }, text: 'Hello' });
  const paused = async () => ((await listed()).health.is_disabled ? true : undefined);
  await until('the pause', paused);
  const { tenant } = bodyOf<{ tenant: { id: string } }>(await api.get('/me'));
  const command = ['tenants', 'update', tenant.id, '--disable', 'event:message.read'];
  const env = { DATA_DIR: gateway.dataDir, GATEWAY_SECRET: gateway.secret };
  const { code } = await startProcess(t, ['main.ts', ...command], env).exit;
  t.equal(code, 0);
  await until('the switched-off event', async () => {
    const { events } = bodyOf<{ events: string[] }>(await api.get('/webhooks/events'));
    return events.includes('message.read') ? undefined : true;
  });

  const page = await newPage(t);
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/webhooks/${(await listed()).id}`);
  await page
    .locator('.badge')
    .getByText(/^Paused since \d/)
    .waitFor();
  const dialog = page.getByRole('dialog');
  const change = async (what: () => Promise<void>) => {
    await page.getByRole('button', { name: 'Change' }).click();
    await what();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await change(() => dialog.getByLabel('Name').fill('orders'));
  const named = await listed();
  t.match(named, { name: 'orders', url: receiver.url(), health: { is_disabled: true } });
  t.same(named.subscribed_to, subscribed_to, 'also what is switched off');

  await change(async () => {
    await api.put(`/webhooks/${named.id}`, { name: 'orders', enabled: false });
    await dialog.getByLabel('message.sent').check();
  });
  const more = await listed();
  t.same(more.subscribed_to, ['message.received', 'message.sent']);
  t.match(more, { enabled: false, health: { is_disabled: true } }, 'changed by another meanwhile');

  await api.put(`/webhooks/${named.id}`, { name: ' orders ' });
  await page.reload();
  await change(() => dialog.getByLabel('message.sent').uncheck());
  t.equal((await listed()).name, ' orders ', 'a name that was not edited');

  await change(async () => {
    await api.put(`/webhooks/${named.id}`, { name: 'of another' });
    await page.locator('h1', { hasText: 'of another' }).waitFor();
    await dialog.getByLabel('Try again after a failure').check();
  });
  t.match(await listed(), { name: 'of another', retries_enabled: true }, 'and that of another');

  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Name').fill('');
  t.equal(await dialog.getByText('Empty: one is made.').count(), 0);
  await dialog.getByRole('button', { name: 'Save' }).click();
  t.equal(await dialog.locator('input:invalid').count(), 1, 'a name cannot be taken away');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });

  await change(() => dialog.getByLabel('Address').fill(receiver.url('/other')));
  t.match(await listed(), { url: receiver.url('/other'), health: { is_disabled: false } });

  await page.getByRole('button', { name: 'Change' }).focus();
  await api.put(`/webhooks/${named.id}`, { name: 'bills' });
  await page.getByRole('heading', { name: 'bills' }).waitFor();
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Change', 'keeps the focus');

  for (let n = 1; n <= 7; n += 1) {
    await receive(api, phone, { from: { phone: phoneNumber(101) }, text: `Hello ${n}` });
  }
  await page.route('**/deliveries?*', async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '1');
    await route.fulfill({ response: await route.fetch({ url: url.href }) });
  });
  await page.reload();
  const rows = page.locator('.rows > li');
  await rows.nth(4).waitFor();
  t.equal(await rows.count(), 5);
  await rows.first().locator('summary').click();
  await page.getByRole('button', { name: 'Show more' }).click();
  await rows.nth(5).waitFor();
  t.equal(await rows.first().locator('details[open]').count(), 1, 'an open row stays open');

  const posted: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posted.push(new URL(request.url()).pathname);
  });
  const replay = page.locator('details[open]').getByRole('button', { name: 'Replay' });
  await clickTwice(page, replay, '/replay');
  t.equal(posted.filter((path) => path.endsWith('/replay')).length, 1, 'a double click is one');

  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await api.put(`/webhooks/${named.id}`, { name: 'bills', enabled: true });
  await page.route('**/recover', lose, { times: 1 });
  await page.getByRole('button', { name: 'Deliver anew' }).click();
  await page.getByText('handed over').waitFor();
  t.pass('a recovery is shown whose answer was lost');

  const section = page.locator('section.card', { hasText: 'Send test' });
  const subscribe = (...events: string[]) =>
    api.put(`/webhooks/${named.id}`, { name: 'bills', subscribed_to: events });
  await subscribe('message.received', 'message.sent');
  await section.getByLabel('Event').selectOption('message.sent');
  await subscribe('message.received');
  await section.locator('option').nth(1).waitFor({ state: 'detached' });
  const testing = page.waitForRequest((request) => request.url().endsWith('/test'));
  await section.getByRole('button', { name: 'Send test' }).click();
  t.match((await testing).postDataJSON(), { event: 'message.received' }, 'as is shown');
  const answered = section.getByText('Answered 500');
  await answered.waitFor();
  posted.length = 0;
  await clickTwice(page, section.getByRole('button', { name: 'Send test' }), '/test');
  t.equal(posted.length, 1, 'also of a test');
  await answered.waitFor();
  await page.route('**/test', (route) => route.abort(), { times: 1 });
  await section.getByRole('button', { name: 'Send test' }).click();
  await section.getByText('its answer was lost').waitFor();
  t.equal(await answered.count(), 0, 'not the answer to an earlier test');
  await page.unrouteAll({ behavior: 'wait' });
});

t.test(
  'signing that another turned on keeps its secret',
  { skip: skipWithoutBrowser },
  async (t) => {
    const gateway = await usualGateway();
    const { api } = gateway;
    const { origin } = new URL(gateway.baseUrl);
    const { url } = await startReceiver(t);
    const body = { url: url(), subscribed_to: ['message.received'] };
    const { webhook } = bodyOf<{ webhook: Webhook }>(await api.post('/webhooks', body));
    const secretOf = (answer: ClientAnswer) =>
      bodyOf<{ signing_secret: string | null }>(answer).signing_secret;
    const path = `/webhooks/${webhook.id}/signing-secret`;
    const rotate = async () => secretOf(await api.post(path)) ?? '';

    const page = await newPage(t);
    await signIn(page, origin, gateway.key);
    await page.goto(`${origin}/console#/webhooks/${webhook.id}`);
    const turnOn = page.getByRole('button', { name: 'Turn signing on' });
    await turnOn.waitFor();
    const first = await rotate();
    await page.getByText('Deliveries are signed.').waitFor();

    await api.delete(path);
    await turnOn.waitFor();
    await page.route('**/v1/webhooks', (route) => route.abort());
    await page.getByRole('alert').waitFor();
    const second = await rotate();
    t.not(second, first);
    await turnOn.click();
    await page.getByText(second).waitFor();
    t.equal(secretOf(await api.get(path)), second, 'a button of before rotates nothing');
    await page.unroute('**/v1/webhooks');
    await page.getByText('Deliveries are signed.').waitFor();

    await page.getByRole('button', { name: 'Turn signing off' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Turn signing off' }).click();
    await turnOn.click();
    const third = await until(
      'a secret of its own',
      async () => secretOf(await api.get(path)) ?? undefined,
    );
    t.not(third, second);
    await page.getByText(third).waitFor();

    await page.getByText('Deliveries are signed.').waitFor();
    t.ok(await page.getByText(third).isVisible(), 'stays once signing is on');
    const fourth = await rotate();
    await page.getByText(third).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText(fourth).waitFor();
    t.pass('a secret goes when another replaces it');
    await api.delete(path);
    await page.getByText(fourth).waitFor({ state: 'detached' });
    t.pass('a secret goes when another turns signing off');
    await api.delete(`/webhooks/${webhook.id}`);
  },
);

t.test('a delivery that is being read stays', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await usualGateway();
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  let answer = 200;
  const receiver = await startReceiver(t, () => answer);
  const subscribed_to = ['message.received'];
  const body = { url: receiver.url(), subscribed_to, retries_enabled: false };
  const { webhook } = bodyOf<{ webhook: Webhook }>(await api.post('/webhooks', body));
  await pair(api, phone);
  const write = (text: string) => receive(api, phone, { from: { phone: phoneNumber(101) }, text });
  await write('the first');
  const page = await newPage(t);
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/webhooks/${webhook.id}`);
  const open = page.locator('.rows details[open]');
  const replay = open.getByRole('button', { name: 'Replay' });
  await page.locator('.rows summary').getByText('Delivered').click();
  await replay.focus();
  // More than the log shows at first.
  for (let n = 1; n <= 25; n += 1) await write(`message ${n}`);
  const rows = page.locator('.rows > li');
  const untilRead = () => page.getByText('message 25').waitFor({ state: 'attached' });
  await untilRead();
  t.match(await open.innerText(), /the first/, 'below the newest');
  t.equal(await rows.count(), 21);
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Replay', 'with its focus');

  const read = page.waitForResponse((response) => response.url().includes('/deliveries?'));
  await replay.click();
  await read;
  await open.getByText('2 attempts').waitFor();
  t.match(
    await open.innerText(),
    /Delivered[\s\S]*the first/,
    'also when it is delivered once more',
  );

  const status = page.getByLabel('Status');
  await status.selectOption({ label: 'Waiting' });
  await page.getByText('Nothing here.').waitFor();
  await status.selectOption({ label: 'Any' });
  await untilRead();
  t.equal(await rows.count(), 20, 'until it is put away');

  answer = 500;
  await write('not taken');
  await status.selectOption({ label: 'Failed' });
  await rows.nth(1).waitFor({ state: 'detached' });
  await page.locator('.rows summary').getByText('Failed').click();
  answer = 200;
  await replay.click();
  await open.getByText('2 attempts').waitFor();
  t.match(await open.innerText(), /Delivered[\s\S]*not taken/, 'where its new state is not listed');
});

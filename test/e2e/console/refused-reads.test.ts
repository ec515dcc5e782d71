import { randomBytes } from 'node:crypto';
import t from 'tap';
import { pagesOf, signIn, skipWithoutBrowser } from '../../harness/browser.ts';
import { client } from '../../harness/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { freePort } from '../../harness/ports.ts';
import { startProcess } from '../../harness/processes.ts';
import { commandLine, pair, phoneNumber, receive, successOf, until } from '../../harness/story.ts';
import { makeFolder } from '../../servers/server.ts';

const file = t;

const newPage = pagesOf(file);

t.test('what the gateway does not answer', { skip: skipWithoutBrowser }, async (t) => {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const key = `gw_test_${randomBytes(32).toString('base64url')}`;
  const started = startProcess(t, ['main.ts', 'serve'], {
    DATA_DIR: await makeFolder('console'),
    TEST_API_KEY: key,
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'warn',
  });
  await started.waitForOk(`http://127.0.0.1:${metricsPort}/servingz`);
  const origin = `http://127.0.0.1:${port}`;
  const page = await newPage(t);
  await page.clock.install();
  await signIn(page, origin, key);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const counted = (path: string) => asked.filter((one) => one === path).length;
  /** Longer than the pause before a failed read is tried again. */
  const wait = () => new Promise((resolve) => setTimeout(resolve, 4_000));

  await page.goto(`${origin}/console#/system`);
  await page.getByText('Version of the gateway').waitFor();
  await wait();
  await page.clock.fastForward(20_000);
  t.equal(counted('/readyz'), 1, 'a probe with a port of its own is asked for once');
  t.equal(await page.getByText('What it needs').count(), 0, 'and left out');
  t.equal(await page.getByRole('alert').count(), 0, 'without a complaint');

  const denied = { error_code: 'scope_missing', error: 'The key may not do this.' };
  await page.route('**/v1/usage', (route) => route.fulfill({ status: 403, json: denied }));
  await page.goto(`${origin}/console#/usage`);
  await page.getByText('The key may not do this.').waitFor();
  await wait();
  t.equal(counted('/v1/usage'), 1, 'a refusal for good is asked for once');
  await page.unroute('**/v1/usage');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Counters begin anew').waitFor();

  const failed = { error_code: 'internal_error', error: 'Something went wrong.' };
  await page.goto(`${origin}/console#/system`);
  await page.route('**/v1/usage', (route) => route.fulfill({ status: 500, json: failed }), {
    times: 1,
  });
  await page.goto(`${origin}/console#/usage`);
  await page.getByText('Something went wrong.').waitFor();
  await page.getByText('Counters begin anew').waitFor();
  t.pass('a fault is tried again');

  await page.route('**/v1/accounts', (route) => route.fulfill({ status: 500, json: failed }), {
    times: 1,
  });
  await page.goto(`${origin}/console#/keys`);
  await page.getByText('Something went wrong.').waitFor();
  t.equal(await page.getByText('This session').count(), 0, 'no key is made for accounts unseen');
  await page.getByText('This session').waitFor();
  t.pass('and so are the accounts');

  const down = { error_code: 'unavailable', error: 'The service is temporarily unavailable.' };
  await page.route('**/v1/me', (route) => route.fulfill({ status: 503, json: down }), { times: 1 });
  await page.reload();
  await page.getByText('The service is temporarily unavailable.').waitFor();
  t.equal(await page.getByLabel('API key').count(), 0, 'the key is not asked for');
  await page.getByText('This session').waitFor();
  t.pass('and the kept one is tried again');

  const api = client(`${origin}/v1`, key);
  const [phone, ada] = [phoneNumber(1), phoneNumber(101)];
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  for (const [what, refuse] of [
    ['locks', 'navigator.locks.request = async () => deny()'],
    ['channels', 'window.BroadcastChannel = function () { deny() }'],
  ] as const) {
    await t.test(`in a browser without storage and ${what}`, async (t) => {
      const other = await newPage(t);
      await other.addInitScript(`
        const deny = () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        };
        Object.defineProperty(window, 'sessionStorage', { get: deny });
        ${refuse};
      `);
      await signIn(other, origin, key);
      t.pass('the key is held');
      await other.goto(`${origin}/console#/conversations`);
      await other.getByRole('link', { name: /Ada/ }).click();
      await other.getByRole('log').getByText('Hello').waitFor();
      await receive(api, phone, { from: { phone: ada }, text: `without ${what}` });
      await other.getByRole('log').getByText(`without ${what}`).waitFor();
      t.pass('events come');
    });
  }
});

t.test('accounts that cannot be listed', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  const [phone, ada] = [phoneNumber(1), phoneNumber(101)];
  const accountId = await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const { tenant } = await successOf<{ tenant: { id: string } }>(api.get('/me'));
  await commandLine(t, gateway, ['tenants', 'update', tenant.id, '--disable', 'api']);
  const refused = async () => (await api.get('/accounts')).status === 404 || undefined;
  await until('the refusal of the list', refused);

  const page = await newPage(t);
  await signIn(page, origin, gateway.key);
  await page.goto(`${origin}/console#/usage`);
  await page.getByText('Counters begin anew').waitFor();
  t.equal(await page.getByRole('alert').count(), 0, 'usage is shown');
  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name: /Ada/ }).click();
  await page.getByRole('log').getByText('Hello').waitFor();
  const talk = page.locator('.talk');
  t.equal(await talk.getByText('was removed').count(), 0, 'no account is said to be removed');
  t.match(await talk.locator('header').innerText(), accountId, 'its id names it');
  await page.getByLabel('Message to Ada').fill('an answer');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('log').getByText('an answer').waitFor();
  t.equal(await page.getByRole('alert').count(), 0, 'and a conversation goes on');
});

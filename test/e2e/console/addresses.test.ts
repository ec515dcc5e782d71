import { join } from 'node:path';
import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { client } from '../../harness/client.ts';
import { runGateway } from '../../harness/gateway.ts';
import { bodyOf, successOf, until } from '../../harness/story.ts';

t.test('people who have addresses and no numbers', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: {
      GATEWAY_CHANNELS__IRC__DRIVER: join(import.meta.dirname, '../drivers/echo.mjs'),
      GATEWAY_CHANNELS__IRC__OPTIONS: '{"recipients":"address"}',
    },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);
  const connections = '/channels/irc/connections';
  await successOf(api.post(connections, { identifier: 'ada@home' }));
  const step = { field: 'password', value: 'right' };
  await successOf(api.post(`${connections}/ada@home/steps`, step));
  for (const address of ['ben', 'bennet']) {
    await successOf(api.post('/messages', { to: { address }, text: `Hello ${address}` }));
  }
  await until('the echoes', async () => {
    const answer = await api.get('/messages?direction=inbound');
    return bodyOf<{ messages: unknown[] }>(answer).messages.length === 2 || undefined;
  });
  const page = await (await startBrowser(t)).newPage();
  page.setDefaultTimeout(15_000);
  const { origin } = new URL(gateway.baseUrl);
  await signIn(page, origin, gateway.liveKey);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });

  await t.test('are told apart by them', async (t) => {
    await page.goto(`${origin}/console#/conversations`);
    const names = page.locator('.talks .name');
    await names.nth(1).waitFor();
    t.same((await names.allInnerTexts()).sort(), ['ben', 'bennet'], 'in the list');
    await page.getByRole('link', { name: 'bennet' }).click();
    await heading('bennet').waitFor();
    t.match(await page.locator('.talk-title .quiet').innerText(), /^bennet · /);
    t.equal(await page.locator('.inbound .hidden').innerText(), 'bennet:', 'in the log');
    await page.goto(`${origin}/console#/messages`);
    await page.getByLabel('Person').fill('ben');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('Whose messages?').waitFor();
    await page.getByRole('button', { name: /^bennet/ }).click();
    await page.locator('.rows summary').getByText('Hello bennet').first().waitFor();
    t.equal(await page.getByLabel('Person').inputValue(), 'bennet');
  });

  await t.test('are written to first', async (t) => {
    await page.goto(`${origin}/console#/conversations`);
    await page.getByRole('button', { name: 'New message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To (address)').fill('cid');
    await dialog.getByLabel('Text').fill('Hello Cid');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await heading('cid').waitFor();
    t.pass('by their addresses');
  });
});

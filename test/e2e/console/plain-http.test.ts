import t from 'tap';
import { signIn, skipWithoutBrowser, startBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { pair, phoneNumber, receive } from '../../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

/** A host that is no loopback address to the browser: no secure context, without locks, UUIDs and clipboard. */
const host = 'gateway.example';

t.test('the console over plain HTTP in a network', { skip: skipWithoutBrowser }, async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api } = gateway;
  const origin = new URL(gateway.baseUrl).origin.replace('127.0.0.1', host);
  await pair(api, phone);
  await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'Hello' });
  const browser = await startBrowser(t, [`--host-resolver-rules=MAP ${host} 127.0.0.1`]);
  const page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  await signIn(page, origin, gateway.key);
  t.equal(await page.evaluate<boolean>('isSecureContext'), false);
  const log = page.getByRole('log');

  await page.goto(`${origin}/console#/conversations`);
  await page.getByRole('link', { name: /Ada/ }).click();
  await log.getByText('Hello').waitFor();
  await receive(api, phone, { from: { phone: ada }, text: 'told by an event' });
  await log.getByText('told by an event').waitFor();
  await page.getByLabel('Message to Ada').fill('from the page');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await log.getByText('from the page').waitFor();

  await page.getByRole('button', { name: 'New message' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To (phone number)').fill(phoneNumber(102));
  await dialog.getByLabel('Text').fill('the first to a number');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await log.getByText('the first to a number').waitFor();

  await api.put(`/sandbox/phones/${phone}`, { send: 'fail' });
  await api.post('/messages', { to: { phone: phoneNumber(102) }, text: 'refused at first' });
  const again = page.getByRole('button', { name: 'Send again' });
  await again.waitFor();
  const accepted = page.waitForResponse((response) => response.status() === 202);
  await again.click();
  await accepted;

  await page.goto(`${origin}/console#/keys`);
  await page.getByRole('button', { name: 'Make a key' }).click();
  await dialog.getByLabel('Name').fill('Robot');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  const key = await dialog.getByText(/^gw_test_/).innerText();
  await dialog.getByRole('button', { name: 'Copy the key' }).click();
  await dialog.getByText('copy it yourself').waitFor();
  t.equal(await page.evaluate<string>('String(getSelection())'), key, 'it is selected');
});

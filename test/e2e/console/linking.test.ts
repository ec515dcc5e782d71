import t from 'tap';
import { pagesOf, signIn, skipWithoutBrowser } from '../../harness/browser.ts';
import { runGateway } from '../../harness/gateway.ts';
import { phoneNumber } from '../../harness/story.ts';

const file = t;
let gateway: ReturnType<typeof runGateway> | undefined;

/** The gateway of all tests of the file. */
function runningGateway(): ReturnType<typeof runGateway> {
  gateway ??= runGateway(file, { databaseUrl: null });
  return gateway;
}

const newPage = pagesOf(file);

t.test('a password goes out as it was typed', { skip: skipWithoutBrowser }, async (t) => {
  const phone = phoneNumber(1);
  const { api, baseUrl, key } = await runningGateway();
  const { origin } = new URL(baseUrl);
  await api.put(`/sandbox/phones/${phone}?channel=chatapp`, { password: ' correct horse ' });
  await api.post('/channels/chatapp/connect', { phone_number: phone, mode: 'qr' });
  const page = await newPage(t);
  await signIn(page, origin, key);
  await page.goto(`${origin}/console#/connect/chatapp/${encodeURIComponent(phone)}`);
  await page.getByRole('button', { name: 'Scan with the test phone' }).click();
  await page.getByLabel(/password/i).fill(' correct horse ');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText(`${phone} is connected.`).waitFor();
  t.pass('connected');
});

t.test('a late answer opens no page', { skip: skipWithoutBrowser }, async (t) => {
  const phone = phoneNumber(2);
  const { baseUrl, key } = await runningGateway();
  const { origin } = new URL(baseUrl);
  const page = await newPage(t);
  await signIn(page, origin, key);
  await page.goto(`${origin}/console#/connect`);
  await page.getByLabel('Phone number').fill(phone);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/v1/channels/*/connections', (route) => held.then(() => route.continue()));
  const asking = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const answer = (await asking).response();
  const menu = page.getByRole('navigation');
  await menu.getByRole('link', { name: 'Conversations' }).click();
  await page.getByText('Choose a conversation').waitFor();
  goOn();
  await (await answer)?.finished();
  // The page has had this answer before the one that is asked for now.
  await page.evaluate("fetch('v1/me').then((answer) => answer.text())");
  t.match(page.url(), /#\/conversations$/);
});

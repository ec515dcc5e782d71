/**
 * Makes the pictures of the console in docs/pictures: `npm run pictures`. A gateway with a story in it is started for
 * them, as in the tests.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBrowser } from '../../harness/browser.ts';
import { generousLimits, runGateway } from '../../harness/gateway.ts';
import { logIn, pair, phoneNumber, sendAccepted, untilMessage } from '../../harness/story.ts';

/** As a newcomer's plan is; the limits of tests would be millions. */
const caps = {
  ...generousLimits,
  GATEWAY_PLANS__GROWTH__SENDS_CAP: '2000',
  GATEWAY_PLANS__GROWTH__NEW_CONTACTS_CAP: '400',
  GATEWAY_PLANS__GROWTH__ACCOUNTS_CAP: '10',
};

const folder = process.env.PICTURES ?? join(import.meta.dirname, '../../../docs/pictures');
const ends: (() => unknown)[] = [];
const t = { teardown: (end: () => unknown) => void ends.unshift(end) };

try {
  await take();
} finally {
  for (const end of ends) await end();
}

async function take(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const gateway = await runGateway(t, { databaseUrl: null, settings: caps });
  const { api } = gateway;
  const { origin } = new URL(gateway.baseUrl);
  const [shop, support, ada] = [phoneNumber(1), phoneNumber(2), phoneNumber(101)];
  const account = await pair(api, shop);
  await logIn(api, support);
  const write = async (phone: string, name: string, text: string) => {
    await api.post(`/sandbox/phones/${shop}/inbound`, { from: { phone, name }, text });
    await sleep(300);
  };
  await write(phoneNumber(103), 'مريم', 'مرحبا، متى يصل الطلب؟');
  await write(phoneNumber(102), 'Grace Hopper', 'Thank you, see you on Monday.');
  await write(ada, 'Ada Lovelace', 'Hello! Is my order ready?');
  const text = 'Yes, since this morning. We are open until six.';
  const read = await sendAccepted(api, { account_id: account, to: { phone: ada }, text });
  await untilMessage(api, read, 'read');
  await api.put(`/sandbox/phones/${shop}`, { send: 'fail', fail_reason: 'recipient_unknown' });
  const invoice = {
    account_id: account,
    to: { phone: ada },
    text: 'And your invoice is attached.',
  };
  await untilMessage(api, await sendAccepted(api, invoice), 'failed');
  await api.put(`/sandbox/phones/${shop}`, { send: 'read' });
  await write(ada, 'Ada Lovelace', 'Great, I will come by at five.');
  const pairing = { phone_number: phoneNumber(3) };
  await api.post('/channels/msgapp-web/connections', pairing);
  await api.post(`/sandbox/phones/${support}/events?channel=chatapp`, { type: 'log_out' });
  await sleep(1_000);

  const browser = await startBrowser(t);
  for (const [width, colorScheme, suffix] of [
    [1280, 'light', ''],
    [390, 'dark', '-phone'],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    await page.goto(`${origin}/console`);
    await page.getByLabel('API key').fill(gateway.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const shoot = async (name: string, hash: string, ready: string) => {
      await page.goto(`${origin}/console#/${hash}`);
      await page.locator(ready).first().waitFor();
      await sleep(500);
      await page.screenshot({ path: join(folder, `console-${name}${suffix}.png`) });
    };
    const contacts = await api.get(`/contacts?phone=${encodeURIComponent(ada)}`);
    const [contact] = (contacts.body as { contacts: { id: string }[] }).contacts;
    await shoot('accounts', 'accounts', '.card');
    await shoot('connect', `connect/msgapp_web/${encodeURIComponent(pairing.phone_number)}`, '.qr');
    await shoot('conversation', `conversations/${account}/${contact?.id}`, '.bubble');
    await shoot('usage', 'usage', '.chart');
    await shoot('phones', 'phones', '.card');
    await shoot('webhooks', 'webhooks', '.empty');
    await shoot('messages', 'messages', 'form');
    const made = await api.post(`/channels/msgapp_web/connections/${pairing.phone_number}/link`);
    const { url } = made.body as { url: string };
    await shoot('link', url.slice(url.indexOf('#/') + 2), '.qr');
    await page.close();
  }
}

import { parseArgs } from 'node:util';
import QRCode from 'qrcode';
import { ulid } from 'ulid';
import {
  type CredentialStore,
  DriverError,
  type DriverEvent,
  type LinkStep,
  type Port,
} from '../../core/contracts/driver.ts';
import { makeMsgappWebDriver } from './driver.ts';

/**
 * Tries the driver on a real account, by hand; see docs/msgapp_web.md. Links the account, sends one text when a
 * recipient is given, prints what comes in for a while, and unlinks again. Keeps nothing. Whatever goes wrong ends it
 * with a sentence and the exit code 1.
 */
const { values } = parseArgs({
  options: {
    phone: { type: 'string' },
    to: { type: 'string' },
    text: { type: 'string', default: 'A message of the smoke script.' },
    method: { type: 'string', default: 'qr' },
    seconds: { type: 'string', default: '60' },
    history: { type: 'boolean', default: false },
  },
});
const { phone, to, text, method, seconds, history } = values;
if (phone === undefined) {
  console.error('usage: npm run smoke:msgapp -- --phone +1… [--to +1…] [--text …]');
  console.error('       [--method qr|pairing_code] [--seconds 60] [--history]');
  process.exit(2);
}

const stored = new Map<string, string>();
const credentials: CredentialStore = {
  get: async (names) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = stored.get(name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
  set: async (changed) => {
    for (const [name, value] of Object.entries(changed)) {
      if (value === null) stored.delete(name);
      else stored.set(name, value);
    }
  },
  clear: async () => stored.clear(),
};

async function show(step: LinkStep): Promise<void> {
  if (step.type === 'show_qr') {
    console.log(await QRCode.toString(step.data, { type: 'terminal', small: true }));
  } else if (step.type === 'show_code') console.log(`type this code on the phone: ${step.code}`);
  else if (step.type === 'expired') fail('The last code ran out before it was used.');
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

let leaving = false;
let connected: () => void = () => undefined;
const live = new Promise<void>((resolve) => {
  connected = resolve;
});

async function emit(event: DriverEvent): Promise<void> {
  if (event.type === 'step') return await show(event.step);
  if (event.type === 'history' || event.type === 'contacts') {
    const { length } = event.type === 'history' ? event.messages : event.contacts;
    console.log(`${event.type}: ${length}`);
    return;
  }
  console.log(JSON.stringify(event));
  // The network ends the connection when the device leaves.
  if (event.type !== 'state' || leaving) return;
  if (event.state === 'connected') connected();
  else if (event.state !== 'unrestricted') fail(`${event.reason}: ${event.detail}`);
}

const log = (fields: object, message: string) => console.log(message, JSON.stringify(fields));
const port: Port = {
  emit,
  credentials,
  proxy: null,
  sentMessage: async () => null,
  leftOut: (kind) => console.log('left out', kind),
  fetchMedia: async () => {
    throw new Error('the smoke script sends no media');
  },
  log: { debug: () => undefined, info: log, warn: log, error: log },
};
const options = {
  websocket_url: process.env.MSGAPP_WEB_SOCKET_URL ?? null,
  root_public_key: process.env.MSGAPP_WEB_ROOT_PUBLIC_KEY ?? null,
  web_version: process.env.MSGAPP_WEB_VERSION ?? null,
};
const account = {
  id: 'acc_smoke',
  tenantId: 'ten_smoke',
  channel: 'msgapp_web',
  identifier: phone,
};
const session = makeMsgappWebDriver({ options }).open(account, port);

await session.link({ method, importContacts: history, importHistory: history });
await live;
if (to !== undefined) {
  const message = {
    // Of the form that the gateway's ids have.
    reference: `msg_${ulid().toLowerCase()}`,
    attempt: 1,
    to: { phone: to, networkId: null },
    text,
    media: null,
  };
  const sent = await session.send(message, AbortSignal.timeout(60_000)).catch((error: unknown) => {
    if (!(error instanceof DriverError)) throw error;
    return fail(`The text was not sent: ${error.code}: ${error.message}.`);
  });
  console.log('sent', message.reference, JSON.stringify(sent));
}
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
leaving = true;
const outcome = await session.logOut();
session.close();
if (outcome === 'still_linked') {
  fail("The network was not reached: take the device off the phone's list of linked devices.");
}
console.log('unlinked');
process.exit(0);

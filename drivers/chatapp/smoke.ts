/**
 * Tries the driver by hand with a real account on the real network; no test does. It logs a number in, names its
 * contacts, sends one text where `--to` says so, and prints what comes in for a while. Nothing is stored.
 *
 *   CHATAPP_API_ID=… CHATAPP_API_HASH=… npm run smoke:chatapp -- \
 *     --phone +12025550001 [--mode code|qr] [--to +12025550002 --text Hello] [--seconds 120] [--keep]
 *
 * The session is logged out at the end unless `--keep` is given.
 */
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type CredentialStore,
  DriverError,
  type DriverEvent,
  type DriverLog,
  type Port,
} from '../../core/contracts/driver.ts';
import { makeChatappDriver } from './driver.ts';

const { values: options } = parseArgs({
  options: {
    phone: { type: 'string' },
    mode: { type: 'string', default: 'code' },
    to: { type: 'string' },
    text: { type: 'string', default: 'Hello from the gateway' },
    seconds: { type: 'string', default: '120' },
    keep: { type: 'boolean', default: false },
  },
});
if (options.phone === undefined) throw new Error('say which number: --phone +12025550001');

const terminal = createInterface({ input: process.stdin, output: process.stdout });
const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
/** Null once the account is connected; a sentence once that came to nothing. */
let settle: (failure: string | null) => void = () => undefined;
const linked = new Promise<string | null>((resolve) => {
  settle = resolve;
});
const log: DriverLog = {
  debug: () => undefined,
  info: (fields, message) => say(`${message} ${JSON.stringify(fields)}`),
  warn: (fields, message) => say(`warning: ${message} ${JSON.stringify(fields)}`),
  error: (fields, message) => say(`error: ${message} ${JSON.stringify(fields)}`),
};

const driver = await makeChatappDriver({
  options: {
    api_id: Number(process.env.CHATAPP_API_ID) || null,
    api_hash: process.env.CHATAPP_API_HASH,
    data_center: process.env.CHATAPP_DATA_CENTER,
    server_public_key: process.env.CHATAPP_SERVER_PUBLIC_KEY,
  },
});
const port: Port = {
  credentials: inMemory(),
  proxy: null,
  log,
  emit: take,
  sentMessage: async () => null,
  leftOut: (kind) => say(`left out: ${kind}`),
  fetchMedia: async () => {
    throw new DriverError('media_unavailable', 'the smoke test sends texts only', {
      certain: true,
    });
  },
};
const { phone } = options;
const account = { id: 'acc_smoke', tenantId: 'ten_smoke', channel: 'chatapp', identifier: phone };
const session = driver.open(account, port);
await session.link({ method: options.mode, importContacts: true, importHistory: false });
const failure = await linked;
if (failure !== null) {
  say(`not connected: ${failure}`);
  session.close();
  process.exit(1);
}
// The contacts come right after.
await sleep(5_000);
if (options.to !== undefined) {
  const message = {
    // As long as the gateway's ids, in their letters.
    reference: `msg_${Date.now().toString(16).padStart(26, '0')}`,
    attempt: 1,
    to: { phone: options.to, networkId: null },
    text: options.text,
    media: null,
  };
  const first = await session.send(message, AbortSignal.timeout(60_000));
  const second = await session.send({ ...message, attempt: 2 }, AbortSignal.timeout(60_000));
  const third = await session.send(message, AbortSignal.timeout(60_000));
  const isOnce = first.networkId === second.networkId && first.networkId === third.networkId;
  say(`sent as ${first.networkId}; handed in three times: ${isOnce ? 'one id' : 'DIFFERENT IDS'}`);
}
await sleep(Number(options.seconds) * 1000);
if (!options.keep) await session.logOut();
session.close();
terminal.close();

async function take(event: DriverEvent): Promise<void> {
  say(JSON.stringify(event));
  if (event.type === 'state') {
    if (event.state === 'connected') settle(null);
    if ('detail' in event && event.state !== 'restricted') {
      process.exitCode = 1;
      settle(event.detail);
    }
  }
  if (event.type === 'step' && event.step.type === 'expired') settle('the last QR code ran out.');
  // Not awaited: an answer leads to further events.
  if (event.type === 'step' && event.step.type === 'ask') void ask(event.step.field);
}

async function ask(field: string): Promise<void> {
  for (;;) {
    const value = await terminal.question(`${field}: `);
    const outcome = await session.answer(field, value.trim()).catch((error: unknown) => {
      if (!(error instanceof DriverError)) throw error;
      return { accepted: false, detail: `${error.message}.` } as const;
    });
    if (outcome.accepted) return;
    say(outcome.detail);
  }
}

function inMemory(): CredentialStore {
  const values = new Map<string, string>();
  return {
    async get(names) {
      return Object.fromEntries([...values].filter(([name]) => names.includes(name)));
    },
    async set(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) values.delete(name);
        else values.set(name, value);
      }
    },
    clear: async () => values.clear(),
  };
}

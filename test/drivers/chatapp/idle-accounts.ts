/**
 * Connects idle accounts, with the driver or with the bare library, and prints how many bytes each takes: the
 * difference that they make to heap and buffers after a collection. KEYS_FILE names what the network has provisioned.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryStorage } from '@mtcute/core';
import { addPublicKey } from '@mtcute/core/utils.js';
import { BaseTelegramClient } from '@mtcute/node';
import { makeChatappDriver } from '../../../drivers/chatapp/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';
import type { Provisioned } from './network/control.ts';

const [kind, count] = process.argv.slice(2);
const [host = '', port] = (process.env.CHATAPP_DATA_CENTER ?? '').split(':');
// Written by `provisionedFile`.
const keys = JSON.parse(
  readFileSync(process.env.KEYS_FILE ?? '', 'utf8'),
) as readonly Provisioned[];
const apiId = Number(process.env.CHATAPP_API_ID);
const apiHash = process.env.CHATAPP_API_HASH ?? '';
const publicKey = process.env.CHATAPP_SERVER_PUBLIC_KEY ?? '';

const driver = await makeChatappDriver({
  options: {
    api_id: apiId,
    api_hash: apiHash,
    data_center: process.env.CHATAPP_DATA_CENTER,
    server_public_key: publicKey,
  },
});

async function withDriver({ phone, key }: Provisioned): Promise<unknown> {
  const session = { version: 1, keys: { 2: key }, values: {} };
  const credentials = new MemoryCredentials(new Map([['session', JSON.stringify(session)]]));
  const memoryPort = new MemoryPort(new LogLines(), credentials);
  const account = { id: `acc_${phone}`, tenantId: 'ten', channel: 'chatapp', identifier: phone };
  const opened = driver.open(account, memoryPort);
  await opened.resume();
  await memoryPort.state('connected');
  return [opened, memoryPort];
}

async function withLibrary({ key }: Provisioned): Promise<unknown> {
  const storage = new MemoryStorage();
  storage.authKeys.set(2, new Uint8Array(Buffer.from(key, 'base64')));
  const main = { id: 2, ipAddress: host, port: Number(port) };
  const client = new BaseTelegramClient({
    apiId,
    apiHash,
    storage,
    storageOptions: { cleanup: false },
    logLevel: 0,
    defaultDcs: { main, media: main },
  });
  addPublicKey(client.crypto, publicKey);
  await client.call({ _: 'users.getUsers', id: [{ _: 'inputUserSelf' }] });
  return client;
}

const open = kind === 'driver' ? withDriver : withLibrary;
const kept: unknown[] = [];
const [first, ...others] = keys.slice(0, Number(count) + 1);
if (first !== undefined) kept.push(await open(first));
const before = await taken();
for (const one of others) kept.push(await open(one));
const after = await taken();
console.log(`bytes ${Math.round((after - before) / others.length)}`);
setInterval(() => kept.length, 60_000);

async function taken(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await sleep(300);
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// The floor of an account of chatapp: the bare library, whose keys do not change, and where the account's sequence
// stands as a row with what it comes with. A call leaves when its intent is durable.
import { MemoryStorage, type tl } from '@mtcute/core';
import { addPublicKey, randomLong } from '@mtcute/core/utils.js';
import { BaseTelegramClient } from '@mtcute/node';
import { Ledger } from './ledger.ts';
import { serveFloor } from './serve.ts';

const { DATABASE_URL = '', KEY = '' } = process.env;
const [host = '', port] = (process.env.CHATAPP_DATA_CENTER ?? '').split(':');

const ledger = await Ledger.open(DATABASE_URL);
const storage = new MemoryStorage();
storage.authKeys.set(2, new Uint8Array(Buffer.from(KEY, 'base64')));
const main = { id: 2, ipAddress: host, port: Number(port) };
const client = new BaseTelegramClient({
  apiId: Number(process.env.CHATAPP_API_ID),
  apiHash: process.env.CHATAPP_API_HASH ?? '',
  storage,
  storageOptions: { cleanup: false },
  updates: false,
  logLevel: 0,
  defaultDcs: { main, media: main },
});
addPublicKey(client.crypto, process.env.CHATAPP_SERVER_PUBLIC_KEY ?? '');
await client.call({ _: 'users.getUsers', id: [{ _: 'inputUserSelf' }] });

const peers = new Map<string, Promise<tl.TypeInputPeer>>();

/** The peer of a number, looked up once. */
function peerOf(phone: string): Promise<tl.TypeInputPeer> {
  const peer = peers.get(phone) ?? lookUp(phone);
  peers.set(phone, peer);
  return peer;
}

async function lookUp(phone: string): Promise<tl.TypeInputPeer> {
  const { users } = await client.call({ _: 'contacts.resolvePhone', phone: phone.slice(1) });
  const [user] = users;
  if (user?._ !== 'user' || user.accessHash === undefined) throw new Error(`nobody has ${phone}`);
  return { _: 'inputPeerUser', userId: user.id, accessHash: user.accessHash };
}

/** Notes where the sequence stands; answers the messages that the updates bring. */
function messagesIn(updates: tl.TypeUpdates): readonly tl.RawMessage[] {
  if (updates._ !== 'updates') return [];
  return updates.updates.flatMap((update) => {
    if (update._ !== 'updateNewMessage' || update.message._ !== 'message') return [];
    ledger.key('pts', String(update.pts));
    return [update.message];
  });
}

const take = await serveFloor(ledger, {
  async send({ to, text }) {
    const [peer] = await Promise.all([peerOf(to), ledger.durable()]);
    const randomId = randomLong();
    const request = { _: 'messages.sendMessage', peer, message: text, randomId } as const;
    const [message] = messagesIn(await client.call(request));
    if (message === undefined) throw new Error('the network does not say which message it took');
    return String(message.id);
  },
});
client.onServerUpdate.add((updates) => {
  for (const { id, peerId, message: text } of messagesIn(updates)) {
    if (peerId._ === 'peerUser') void take({ id: String(id), from: String(peerId.userId), text });
  }
});
console.log('listening');

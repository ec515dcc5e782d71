import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import t from 'tap';
import { type Client, client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { listening } from '../harness/ports.ts';
import { connected, pair, phoneNumber, successOf, until } from '../harness/story.ts';
import { runWalk, walked } from '../harness/walk.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const { network, settings, output } = await startNetwork(t);
const gateway = await runGateway(t, {
  databaseUrl: null,
  settings: {
    ...settings,
    GATEWAY_LIMITS__REQUESTS_PER_S: '0',
    GATEWAY_CHANNELS__CHATAPP__DRIVER: 'missing',
  },
});
const api: Client = client(gateway.baseUrl, gateway.liveKey);
const [byQr, byCode] = [phoneNumber(1), phoneNumber(2)];
const contact = phoneNumber(9001);

/** What the walk of the README has the sandbox do, done by the owner of the phone and a contact on the fake network. */
async function playOwner(phone: string, call: string, body: unknown): Promise<void> {
  if (call === 'scan') {
    const { qr } = await successOf<{ qr: string }>(
      api.get(`/channels/msgapp-web/connections/${phone}/qr`),
    );
    await network.scan(phone, qr);
    await network.followWith(phone, ['delivered', 'read']);
    return;
  }
  const { from, text } = body as { from: { phone: string; name: string }; text: string };
  await network.write(phone, { from: from.phone, name: from.name, text });
}

await t.test('the walk of the README, with a live key', async (t) => {
  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method = 'GET', url = '/', headers } = incoming;
    const outgoing = request(new URL(url, gateway.baseUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  };
  const front = createServer(async (incoming, response) => {
    const [, phone, call] = /\/sandbox\/phones\/([^/]+)\/(\w+)$/.exec(incoming.url ?? '') ?? [];
    if (phone === undefined || call === undefined) return forward(incoming, response);
    await playOwner(phone, call, call === 'scan' ? null : await json(incoming));
    response.end('{}');
  });
  const printed = await runWalk(t, `${await listening(t, front)}/v1`, gateway.liveKey);
  for (const pattern of walked) t.match(printed, pattern);
  const removed = await successOf(api.delete('/channels/msgapp-web/connections/+12025550111'));
  t.match(removed, { status: 'removed' });
});

await t.test('a number is connected by QR code', async (t) => {
  const connect = await successOf<{ status: string }>(
    api.post('/channels/msgapp-web/connections', { phone_number: byQr }),
  );
  t.equal(connect.status, 'connecting');
  const qr = await until('the QR code', async () => {
    const answer = await api.get(`/channels/msgapp-web/connections/${byQr}/qr`);
    return answer.status === 200 ? (answer.body as { qr: string }).qr : undefined;
  });
  await network.scan(byQr, qr);
  await connected(api, byQr);
});

await t.test('and by pairing code', async (t) => {
  const { pairing_code } = await successOf<{ pairing_code: string }>(
    api.post('/channels/msgapp-web/connections', {
      phone_number: byCode,
      link_method: 'pairing_code',
    }),
  );
  t.match(pairing_code, /^[0-9A-Z]{8}$/);
  await network.typeCode(byCode, pairing_code);
  await connected(api, byCode);
});

await t.test('messages go out and come in', async (t) => {
  const { accounts } = await successOf<{ accounts: { id: string; identifier: string }[] }>(
    api.get('/accounts'),
  );
  const account_id = accounts.find(({ identifier }) => identifier === byQr)?.id;
  await network.followWith(byQr, ['delivered', 'read']);
  const wait = api.get(`/messages/wait?timeout_s=20&account_id=${account_id}`);
  const { id } = await successOf<{ id: string }>(
    api.post('/messages', { account_id, to: { phone: contact }, text: 'Hello from the gateway' }),
  );
  const message = await until('the message to be read', async () => {
    const message = await successOf<{ status: string }>(api.get(`/messages/${id}`));
    return message.status === 'read' ? message : undefined;
  });
  t.match(message, { sent_at: String, delivered_at: String, read_at: String });
  t.match(await network.shown(byQr), [
    { networkId: id, to: contact, text: 'Hello from the gateway', times: 1 },
  ]);
  await network.write(byQr, { from: contact, name: 'Ada', text: 'Hello back!' });
  const { messages } = await successOf<{ messages: unknown[] }>(wait);
  t.match(messages, [{ text: 'Hello back!', contact: { phone: contact, name: 'Ada' } }]);
  await until('the message to be acknowledged', async () =>
    (await network.waiting(byQr)) === 0 ? true : undefined,
  );
});

await t.test('a restart keeps the accounts, a log-out on the phone ends one', async (t) => {
  t.equal(await gateway.stop(), 0);
  await gateway.start();
  await connected(api, byQr);
  await connected(api, byCode);
  await network.unlink(byCode);
  const status = await until('the log-out', async () => {
    const answer = await successOf<{ status: string }>(
      api.get(`/channels/msgapp-web/connections/${byCode}/status`),
    );
    return answer.status === 'disconnected' ? answer : undefined;
  });
  t.match(status, { reason: 'logged_out' });
});

await t.test('removing an account leaves the network', async (t) => {
  const removed = await successOf(api.delete(`/channels/msgapp-web/connections/${byQr}`));
  t.match(removed, { status: 'removed' });
  await until('the device to be gone', async () =>
    (await network.waiting(byQr)) === null ? true : undefined,
  );
});

await t.test('without the optional library the rest runs, and the log says so', async (t) => {
  const bare = await runGateway(t, {
    databaseUrl: null,
    program: ['--import', './test/networks/msgapp_web/without-library.mjs', 'main.ts', 'serve'],
  });
  const live = client(bare.baseUrl, bare.liveKey);
  const refused = await live.post('/channels/msgapp-web/connections', { phone_number: byQr });
  t.match(refused, { status: 403, body: { error_code: 'channel_not_enabled' } });
  t.match(bare.output(), /baileys is not installed/);
  await pair(bare.api, byQr);
  t.equal(await bare.stop(), 0);
});

await t.test('nothing secret is printed', async (t) => {
  for (const printed of [gateway.output(), output()]) {
    t.notMatch(printed, /privKey|private|Closing session|Opening session/i);
  }
});

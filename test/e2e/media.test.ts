import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MediaAddresses } from '../../plugins/media/addresses.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import { databases } from '../harness/databases.ts';
import { type Fleet, type FleetTenant, runFleet } from '../harness/fleet.ts';
import {
  drip,
  file,
  flood,
  type MediaServer,
  mediaServer,
  picture,
} from '../harness/media-server.ts';
import { payloadOf, startReceiver } from '../harness/receiver.ts';
import {
  bodyOf,
  messageOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  type ShownMessage,
  sendAccepted,
  until,
  untilMessage,
} from '../harness/story.ts';
import { recordedEvents } from './recorded.ts';

// The server of a busy machine answers in time.
const settings = { GATEWAY_MEDIA__MAX_BYTES: '1000000', GATEWAY_MEDIA__TIMEOUT_S: '5' };
const phone = phoneNumber(1);
const [ada, bob] = [phoneNumber(101), phoneNumber(102)];

interface Shown {
  readonly kind: string;
  readonly url: string | null;
  readonly mime_type: string | null;
  readonly file_name: string | null;
  readonly size: number | null;
}

interface Stage {
  readonly fleet: Fleet;
  readonly tenant: FleetTenant;
  readonly server: MediaServer;
}

const mediaOf = (message: ShownMessage): Shown => message.media as Shown;

/** The files that the store holds. */
async function kept({ gateways: [gateway] }: Fleet): Promise<readonly string[]> {
  const folder = join(gateway?.dataDir ?? '', 'media', 'kept');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}

async function noneKept(fleet: Fleet, count = 0): Promise<void> {
  await until(`${count} files to be left`, async () =>
    (await kept(fleet)).length === count ? true : undefined,
  );
}

async function sent(t: Test, { tenant: { api }, server }: Stage): Promise<void> {
  const send = (path: string) =>
    sendAccepted(api, { to: { phone: ada }, media_url: `${server.url}${path}` });
  const read = await send('/map.png');
  t.match(mediaOf(await untilMessage(api, read, 'read')), { url: `${server.url}/map.png` });
  t.match((await outbox(api, phone)).at(-1), { media_url: `${server.url}/map.png` });

  server.answer('/page.png', file('image/png', '<!doctype html><script>alert(1)</script>'));
  server.answer('/missing.png', (_, response) => response.writeHead(404).end());
  server.answer('/told.png', flood(2_000_000, true));
  server.answer('/untold.png', flood(2_000_000, false));
  for (const [path, error] of [
    ['/page.png', /^media_type_not_allowed: ./],
    ['/missing.png', /^media_unavailable: the server answered with status 404$/],
    ['/told.png', /^media_too_large: ./],
    ['/untold.png', /^media_too_large: ./],
  ] as const) {
    t.match((await untilMessage(api, await send(path), 'failed')).error, error, path);
  }
  t.equal((await outbox(api, phone)).length, 1, 'the network got none of them');
}

async function received(t: Test, { fleet, tenant, server }: Stage): Promise<string> {
  const { api, clients } = tenant;
  const media_url = `${server.url}/cat.png`;
  const receiver = await startReceiver(t);
  const hook = { url: receiver.url(), subscribed_to: ['message.received'] };
  t.equal((await api.post('/webhooks', hook)).status, 201);
  const inbound = { from: { phone: ada, name: 'Ada' }, text: 'a cat', media_url, network_id: 'N1' };
  const message = await receive(api, phone, inbound);
  const media = mediaOf(message);
  const facts = { kind: 'image', mime_type: 'image/png', file_name: 'cat.png' };
  t.match(media, { ...facts, size: picture.length });
  const address = media.url ?? '';
  t.ok(address.startsWith(`${fleet.gateways[0]?.baseUrl}/media/`), 'an address of the gateway');
  const answer = await fetch(address);
  t.equal(answer.status, 200);
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(picture));
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'image/png',
    'content-length': String(picture.length),
    'content-disposition': 'inline; filename=cat.png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    'cache-control': /^private, /,
    'x-request-id': String,
  });
  const head = await fetch(address, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), String(picture.length));
  const part = await fetch(address, { headers: { range: 'bytes=1-3' } });
  t.match([part.status, await part.text()], [206, 'PNG']);
  t.equal(part.headers.get('content-range'), `bytes 1-3/${picture.length}`);
  t.equal((await fetch(address, { headers: { range: 'bytes=900-' } })).status, 416);

  for (const [n, client] of clients.entries()) {
    const own = mediaOf(await messageOf(client, message.id)).url ?? '';
    t.ok(own.startsWith(`${fleet.gateways[n]?.baseUrl}/media/`));
    t.equal((await fetch(own)).status, 200, 'any process serves it');
  }

  await api.post(`/sandbox/phones/${phone}/inbound`, inbound);
  await receive(api, phone, { from: { phone: ada }, text: 'after the repeat' });
  t.equal(server.asked.get('/cat.png'), 1, 'a repeat is not fetched again');
  t.equal((await kept(fleet)).length, 1);

  const [event] = await recordedEvents(fleet.rows, tenant.id, message.id);
  const url = /^media:[0-9a-f]{32}$/;
  t.match(event, { payload: { message: { media: { url } } } }, 'it never expires in the payload');
  const told = await until('the webhook', async () => receiver.received[0]);
  const fresh = (payloadOf(told).message as unknown as { media: Shown }).media;
  t.match(fresh, { ...facts, size: picture.length });
  t.equal((await fetch(fresh.url ?? '')).status, 200, 'a webhook gets an address that works');
  return message.id;
}

async function refusedAddresses(t: Test, { fleet, tenant }: Stage, id: string): Promise<void> {
  const url = new URL(mediaOf(await messageOf(tenant.api, id)).url ?? '');
  const ask = async (change: (url: URL) => void) => {
    const changed = new URL(url);
    change(changed);
    const answer = await fetch(changed);
    return [answer.status, ((await answer.json()) as { error_code: string }).error_code];
  };
  const notFound = [404, 'not_found'];
  const forged = 'A'.repeat(22);
  t.same(await ask((one) => one.searchParams.set('signature', forged)), notFound, 'forged');
  t.same(await ask((one) => one.searchParams.set('expires', '9999999999')), notFound, 'prolonged');
  t.same(await ask((one) => one.searchParams.delete('signature')), notFound, 'unsigned');
  const other = url.pathname.replace(/[0-9a-f]{32}$/, '0'.repeat(32));
  t.same(await ask((one) => Object.assign(one, { pathname: other })), notFound, "another's");
  const up = url.pathname.replace(/[0-9a-f]{32}$/, '..%2f..%2fgateway.db');
  t.same(await ask((one) => Object.assign(one, { pathname: up })), notFound, 'a path');
  const secrets = makeSecrets(makeKeyring(fleet.gateways[0]?.secret ?? '', null));
  const past = new MediaAddresses({
    keys: secrets.derive('media'),
    lifetimeMs: 1_000,
    publicUrl: () => url.origin,
    now: () => Date.now() - 5_000,
  });
  const expired = new URL(past.mint(url.pathname.split('/').at(-1) ?? ''));
  t.same(await ask((one) => Object.assign(one, { href: expired.href })), [410, 'media_gone']);

  const stranger = await fleet.tenant('growth');
  t.equal((await stranger.api.get(`/messages/${id}`)).status, 404, "another tenant's");
}

async function unavailable(t: Test, { fleet, tenant: { api }, server }: Stage): Promise<void> {
  server.answer('/slow.png', drip());
  server.answer('/gone.png', (_, response) => response.writeHead(404).end());
  const from = { phone: ada };
  const write = (text: string, path?: string) =>
    api.post(`/sandbox/phones/${phone}/inbound`, {
      from,
      text,
      ...(path === undefined ? {} : { media_url: `${server.url}${path}` }),
    });
  const cursor = bodyOf<{ next_cursor: string }>(await api.get('/messages/wait?timeout_s=0'));
  await write('slow', '/slow.png');
  await write('gone', '/gone.png');
  await write('text');
  const found = await until('all three', async () => {
    const wait = await api.get(`/messages/wait?timeout_s=0&cursor=${cursor.next_cursor}`);
    const { messages } = bodyOf<{ messages: ShownMessage[] }>(wait);
    return messages.length === 3 ? messages : undefined;
  });
  t.same(
    found.map(({ text }) => text),
    ['slow', 'gone', 'text'],
    'in order',
  );
  t.match(found[0], { media: { kind: 'image', file_name: 'slow.png' } });
  t.same(
    found.slice(0, 2).map((message) => mediaOf(message).url),
    [null, null],
  );
  const logged = fleet.gateways.map((gateway) => gateway.output()).join('');
  t.equal(logged.split('inbound media could not be fetched').length - 1, 2, 'it says so');
}

async function privately(t: Test, { fleet, tenant: { api }, server }: Stage): Promise<void> {
  const before = (await kept(fleet)).length;
  const media_url = `${server.url}/secret.png`;
  const message = await receive(api, phone, {
    from: { phone: bob },
    text: 's',
    media_url,
  } as never);
  const { url } = mediaOf(message);
  t.equal((await kept(fleet)).length, before + 1);
  await api.patch(`/contacts/${message.contact.id}`, { private: true });
  await noneKept(fleet, before);
  t.equal((await fetch(url ?? '')).status, 410, 'an address that was good');
  await api.post(`/sandbox/phones/${phone}/inbound`, {
    from: { phone: bob },
    text: 't',
    media_url,
  });
  await receive(api, phone, { from: { phone: ada }, text: 'after the secret' });
  t.equal(server.asked.get('/secret.png'), 1, 'nothing of a private contact is fetched');
}

/** A file that never comes holds up its own conversation only, and fails in the end. */
async function hanging(t: Test, { tenant: { api }, server }: Stage): Promise<void> {
  server.answer('/hangs.png', () => undefined);
  const contacts = Array.from({ length: 10 }, (_, n) => phoneNumber(300 + n));
  const late: string[] = [];
  for (const one of contacts) {
    late.push(
      await sendAccepted(api, { to: { phone: one }, media_url: `${server.url}/hangs.png` }),
    );
  }
  const behind = await sendAccepted(api, { to: { phone: contacts[0] } });
  const beside = await sendAccepted(api, { to: { phone: bob } });
  await untilMessage(api, beside, 'read');
  for (const id of [...late, behind]) t.match(await messageOf(api, id), { status: 'queued' });
  for (const id of late) {
    t.match((await untilMessage(api, id, 'failed')).error, /^media_unavailable: ./);
  }
  await untilMessage(api, behind, 'read');
  t.equal(server.asked.get('/hangs.png'), 3 * contacts.length, 'three tries each');
}

// Two processes on one database. The SQL of both engines is tested below the API.
const [, engine] = databases;

t.test('media, all the way', async (t) => {
  if (engine === undefined) throw new Error('there is no database server');
  const fleet = await runFleet(t, engine, settings);
  const tenant = await fleet.tenant('growth');
  const stage = { fleet, tenant, server: await mediaServer(t) };
  await pair(tenant.api, phone);
  await t.test('sent', (t) => sent(t, stage));
  const id = await received(t, stage);
  await t.test('addresses', (t) => refusedAddresses(t, stage, id));
  await t.test('not to be had', (t) => unavailable(t, stage));
  await t.test('hanging', (t) => hanging(t, stage));
  await t.test('private', (t) => privately(t, stage));
  await t.test('a restart', async (t) => {
    const { url } = mediaOf(await messageOf(tenant.api, id));
    const [gateway] = fleet.gateways;
    await gateway?.kill();
    await gateway?.start();
    t.equal((await fetch(url ?? '')).status, 200, 'an address from before');
  });
});

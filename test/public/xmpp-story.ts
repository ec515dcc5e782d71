import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { xml } from '@xmpp/client';
import type { Test } from 'tap';
import { connectAgent } from '../harness/agent.ts';
import { type Client, client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { payloadOf, startReceiver } from '../harness/receiver.ts';
import { bodyOf, type ShownMessage, sendAccepted, until, untilMessage } from '../harness/story.ts';
import type { Prosody } from '../servers/prosody.ts';

/** What the story is played with. */
export interface XmppStory {
  readonly xmpp: Prosody;
  /** The gateway's program, as it was packed. */
  readonly program: string;
  /** Where gateway and driver are installed, with the guide's configuration in `gateway.json`. */
  readonly folder: string;
  /** The guide's module of people on the server. */
  readonly people: string;
  /** Runs the guide's walk. */
  walk(env: Readonly<Record<string, string>>): Promise<string>;
}

type Element = ReturnType<typeof xml>;

/** A contact, as the list shows it. */
interface Known {
  readonly id: string;
  readonly name: string | null;
  readonly automation_paused: boolean;
}

/** As the guide exports it. */
interface Person {
  readonly received: readonly Element[];
  send(stanza: Element): Promise<void>;
  ask(type: 'get' | 'set', child: Element): Promise<Element>;
  command(name: string, fields: Readonly<Record<string, string>>): Promise<void>;
  leave(): void;
}
interface People {
  readonly Person: {
    enter(
      service: string,
      address: string,
      password: string,
      options?: { readonly resource?: string; readonly isSeen?: boolean },
    ): Promise<Person>;
  };
}

const ada = 'ada@localhost';
const ben = 'ben@localhost';
/** As the guide registers them. */
const passwords: Readonly<Record<string, string>> = {
  [ada]: 'correct horse',
  [ben]: 'battery staple',
};
const link = () => xml('link', { xmlns: 'urn:messaging-gateway:link' });

/** Two accounts of a real server on one gateway, over REST, webhooks and MCP, through all that can befall them. */
export async function xmppStory(t: Test, story: XmppStory): Promise<void> {
  const { server } = story.xmpp;
  const { Person }: People = await import(pathToFileURL(story.people).href);
  const enter = (address: string, options = {}) =>
    Person.enter(server.url, address, passwords[address] ?? '', options);
  const owner = await enter(ada);
  const cleo = xml('item', { jid: 'cleo@localhost', name: 'Cleo' });
  const first = await enter(ben);
  await first.ask('set', xml('query', { xmlns: 'jabber:iq:roster' }, cleo));
  first.leave();
  const item = xml('item', { jid: ben, name: 'Ben' });
  await owner.ask('set', xml('query', { xmlns: 'jabber:iq:roster' }, item));

  const file = join(story.folder, 'gateway.json');
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: [story.program, 'serve'],
    folder: story.folder,
    settings: {
      GATEWAY_CONFIG: file,
      GATEWAY_CHANNELS__XMPP__DRIVER: 'messaging-gateway-xmpp',
      GATEWAY_WEBHOOKS__ALLOW_HTTP: 'true',
      GATEWAY_WEBHOOKS__ALLOW_PRIVATE_TARGETS: 'true',
    },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);
  const { received, url } = await startReceiver(t);
  const told = () => received.map(payloadOf);
  const { events } = bodyOf<{ events: string[] }>(await api.get('/webhooks/events'));
  await api.post('/webhooks', { url: url(), subscribed_to: events });

  const printed = await story.walk({ BASE: gateway.baseUrl, KEY: gateway.liveKey });
  t.match(printed, /"channel":"xmpp","available":true/);
  t.match(printed, /"step":\{"type":"ask","field":"password","label":"Password","secret":true\}/);
  t.match(printed, /"status":"queued"/);
  const imports = { import_contacts: true, pause_ai_for_imported_contacts: true };
  const begun = await api.post(paths(ben).all, { identifier: ' Ben@LocalHost ', ...imports });
  t.match(begun.body, { identifier: ben, step: { type: 'ask', field: 'password' } });
  const wrong = { field: 'password', value: 'wrong' };
  t.match((await api.post(paths(ben).steps, wrong)).body, { error_code: 'invalid_password' });
  const [adaId, benId] = [await accountOf(api, ada), await connect(api, ben)];
  const known = (name: string) =>
    until(name, async () => {
      const { contacts } = bodyOf<{ contacts: Known[] }>(await api.get('/contacts?channel=xmpp'));
      return contacts.find((one) => one.name === name);
    });
  const toBen = { contact_id: (await known('Ben')).id };
  t.match(await known('Cleo'), { automation_paused: true }, 'who is in the roster at the link');
  const inbound = (accountId: string, text: string): Promise<ShownMessage> =>
    until(`"${text}"`, async () =>
      (await inboundOf(api, accountId)).find((one) => one.text === text),
    );

  const texts = ['there', 'over MCP'];
  const there = await sendAccepted(api, { account_id: adaId, to: toBen, text: texts[0] });
  const { contact } = await inbound(benId, 'there');
  t.match(await untilMessage(api, there, 'delivered'), { contact: { name: 'Ben', phone: null } });
  const back = await sendAccepted(api, {
    account_id: benId,
    to: { contact_id: contact.id },
    text: 'and back',
  });
  await inbound(adaId, 'and back');
  await untilMessage(api, back, 'delivered');
  const agent = await connectAgent(t, gateway.mcpUrl, gateway.liveKey);
  const body = { account_id: adaId, to: toBen, text: texts[1] };
  const tool = await agent.call('send_message', { body });
  t.equal(tool.statusLine, '202 Accepted');
  await inbound(benId, 'over MCP');

  const phone = await enter(ben, { isSeen: true });
  const seen = await sendAccepted(api, { account_id: adaId, to: toBen, text: 'to be read' });
  await until('it on the phone', async () => phone.received.find(({ attrs }) => attrs.id === seen));
  await untilMessage(api, seen, 'delivered');
  const displayed = xml('displayed', { xmlns: 'urn:xmpp:chat-markers:0', id: seen });
  await phone.send(xml('message', { type: 'chat', to: ada }, displayed));
  await untilMessage(api, seen, 'read');
  await inbound(benId, 'to be read');
  t.pass('both ways, delivered and read');

  const joined = xml('item', { jid: 'dan@localhost', name: 'Dan' });
  await phone.ask('set', xml('query', { xmlns: 'jabber:iq:roster' }, joined));
  await server.crash();
  await untilStatus(api, ada, 'connecting');
  const away = ['away 1', 'away 2', 'away 3'];
  const accepted: string[] = [];
  for (const text of away) {
    accepted.push(await sendAccepted(api, { account_id: adaId, to: toBen, text }));
  }
  await server.start();
  for (const id of accepted) await untilMessage(api, id, 'delivered');
  await inbound(benId, 'away 3');
  t.same(
    (await inboundOf(api, benId)).map(({ text }) => text).reverse(),
    [...texts, 'to be read', ...away],
    'what was accepted while the server was away arrives once, in order',
  );
  t.match(await known('Dan'), { automation_paused: false }, 'who joins it later');

  const other = await enter(ben);
  const data = await other.ask('get', xml('query', { xmlns: 'jabber:iq:private' }, link()));
  const resource = `gateway-${data.getChild('query')?.getChildText('link')}`;
  const twin = await enter(ben, { resource });
  t.match(await untilStatus(api, ben, 'disconnected'), { reason: 'replaced' });
  t.equal(await connectAgain(api, ben), benId, 'and can be linked again');
  const admin = await Person.enter(server.url, 'admin@localhost', 'admin');
  await admin.command('change-user-password', { accountjid: ben, password: 'another' });
  t.match(await untilStatus(api, ben, 'disconnected'), { reason: 'logged_out' });

  t.match((await api.delete(paths(ada).one)).body, { status: 'removed' });
  t.equal((await api.get(paths(ada).status)).status, 404);
  const again = await enter(ada);
  const left = await again.ask('get', xml('query', { xmlns: 'jabber:iq:private' }, link()));
  t.equal(left.getChild('query')?.getChildText('link'), '', 'the link is gone from the server');
  for (const person of [owner, phone, other, twin, admin, again]) person.leave();

  const gone = await until('the last event', async () => {
    const ends = told().filter(({ event }) => event === 'account.disconnected');
    return ends.length === 3 ? ends.map(({ account }) => account?.reason) : undefined;
  });
  t.same(gone.sort(), ['logged_out', 'removed', 'replaced']);
  const about = told().flatMap(({ event, message }) => (message ? [`${event} ${message.id}`] : []));
  t.equal(new Set(about).size, about.length, 'no event twice');
  for (const id of [there, back, seen, ...accepted])
    t.ok(about.includes(`message.delivered ${id}`));
  t.ok(about.includes(`message.read ${seen}`));
  const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl))).text();
  t.notMatch(metrics, /driver_faults_total\{channel="xmpp"/, 'the driver has kept its contract');
  for (const password of Object.values(passwords)) t.notMatch(gateway.output(), password);
  t.equal(await gateway.stop(), 0);
}

function paths(identifier: string) {
  const all = '/channels/xmpp/connections';
  const one = `${all}/${identifier}`;
  return { all, one, steps: `${one}/steps`, status: `${one}/status` };
}

/** Hands the right password in; answers the account's id. */
async function connect(api: Client, identifier: string): Promise<string> {
  const value = passwords[identifier];
  const answer = await api.post(paths(identifier).steps, { field: 'password', value });
  const { status, account_id } = bodyOf<{ status: string; account_id: string }>(answer);
  if (status !== 'connected') throw new Error(`not connected: ${JSON.stringify(answer.body)}`);
  return account_id;
}

async function connectAgain(api: Client, identifier: string): Promise<string> {
  await api.post(paths(identifier).all, { identifier });
  return await connect(api, identifier);
}

async function accountOf(api: Client, identifier: string): Promise<string> {
  return bodyOf<{ account_id: string }>(await api.get(paths(identifier).status)).account_id;
}

async function inboundOf(api: Client, accountId: string): Promise<readonly ShownMessage[]> {
  const answer = await api.get(`/messages?direction=inbound&account_id=${accountId}`);
  return bodyOf<{ messages: ShownMessage[] }>(answer).messages;
}

async function untilStatus(api: Client, identifier: string, status: string): Promise<unknown> {
  return await until(`${identifier} to be ${status}`, async () => {
    const { body } = await api.get(paths(identifier).status);
    return (body as { status?: string }).status === status ? body : undefined;
  });
}

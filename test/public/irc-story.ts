import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { type Client, client } from '../harness/client.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';
import {
  bodyOf,
  messageOf,
  type ShownMessage,
  sendAccepted,
  until,
  untilMessage,
} from '../harness/story.ts';
import type { Ngircd } from '../servers/ngircd.ts';

/** What the story is played with. */
export interface IrcStory {
  readonly irc: Ngircd;
  /** The gateway's program, as it was packed. */
  readonly program: string;
  /** The guide's modules of people and the wire. */
  readonly built: string;
  /** Installs gateway and driver for a server at this port; answers the operator's folder. */
  install(port: number): Promise<string>;
  /** Runs the guide's walk. */
  walk(env: Readonly<Record<string, string>>): Promise<string>;
}

/** As the guide exports it. */
interface Person {
  readonly nickname: string;
  readonly received: readonly { readonly from: string; readonly text: string }[];
  say(line: string): Promise<void>;
  rename(nickname: string): Promise<void>;
  leave(): void;
}
interface Wire {
  isCut: boolean;
  readonly held: Set<string>;
  listen(): Promise<number>;
  close(): void;
}

/** Sends, and the kills at equal parts of them. */
const count = scaled(200, 40);
const kills = 3;
const desk = '/channels/irc/connections/desk';

/** An account of a real server on a gateway, over REST: both ways, renamed, cut, and killed in the middle of sends. */
export async function ircStory(t: Test, story: IrcStory): Promise<void> {
  const module = async (name: string) => await import(pathToFileURL(join(story.built, name)).href);
  const { Wire } = await module('wire.js');
  const { Person } = await module('person.js');
  const accountIn = (bytes: string) => /^NICK (\S+)/m.exec(bytes)?.[1];
  const wire: Wire = new Wire(story.irc.port, { accountIn, isLogin: () => false, refusal: '' });
  t.teardown(() => wire.close());
  const enter = async (nickname: string): Promise<Person> => {
    const server = { host: '127.0.0.1', port: story.irc.port, tls: false, password: '' };
    const person: Person = await Person.enter(server, nickname);
    t.teardown(() => person.leave());
    return person;
  };
  const folder = await story.install(await wire.listen());
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: [story.program, 'serve'],
    folder,
    settings: {
      GATEWAY_CONFIG: join(folder, 'gateway.json'),
      GATEWAY_SESSIONS__LEASE_S: '3',
      GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
    },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);

  const ben = await enter('ben');
  await ben.say('JOIN #help');
  const printed = await story.walk({ BASE: gateway.baseUrl, KEY: gateway.liveKey });
  t.match(printed, /"channel":"irc","available":true/);
  await until('the walk to end', async () => ben.received.length > 0 || undefined);
  t.same(ben.received, [{ from: 'desk', text: 'Hello Ben' }]);

  await ben.say('PRIVMSG desk :And back \x0304to you\u2028:ben!x@y NICK desk');
  await ben.say('PRIVMSG desk :\x01ACTION waves\x01');
  await ben.say('PRIVMSG desk :\x01VERSION\x01');
  await ben.say('PRIVMSG #help :to all');
  const [back, waves] = await inboundOf(api, 2);
  t.match(back, { text: /^And back to you/, contact: { name: 'ben', phone: null } });
  t.equal(waves?.text, '* waves', 'what only programs ask is left out');

  await ben.rename('benny');
  await ben.say('PRIVMSG desk :Under another name');
  const renamed = (await inboundOf(api, 3)).at(-1);
  t.equal(renamed?.contact.id, back?.contact.id, 'the same person under another name');
  const contact = { contact_id: back?.contact.id };
  const long = `One line\nQUIT\n${'ä'.repeat(300)}`;
  await untilMessage(api, await sendAccepted(api, { to: contact, text: long }), 'sent');
  const lines = ben.received.slice(1).map(({ text }) => text);
  t.same(lines, ['One line', 'QUIT', 'ä'.repeat(200), 'ä'.repeat(100)]);
  const gone = await sendAccepted(api, { to: { address: 'nobody' }, text: 'Anybody?' });
  t.match(await untilMessage(api, gone, 'failed'), { error: /^refused_401/ });
  const tooLong = await api.post('/messages', { to: contact, text: 'x'.repeat(2_001) });
  t.match(tooLong, { status: 400, body: { details: [{ path: 'body/text' }] } });
  const noName = await api.post('/messages', { to: { address: 'not a nickname' }, text: 'Hello' });
  t.equal(noName.status, 400);

  await story.irc.server.crash();
  await until('the loss', async () => ((await statusOf(api)) === 'connecting' ? true : undefined));
  const queued = await sendAccepted(api, { to: { address: 'ada' }, text: 'Once you are back' });
  // The desk comes back once she is there.
  wire.isCut = true;
  await story.irc.server.start();
  const ada = await enter('ada');
  wire.isCut = false;
  await untilMessage(api, queued, 'sent');
  t.same(ada.received, [{ from: 'desk', text: 'Once you are back' }]);

  await killed(t, { api, gateway, wire, people: [ada, await enter('cleo')] });
  const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl))).text();
  t.notMatch(metrics, /driver_faults_total\{channel="irc"/, 'the driver has kept its contract');
  t.match((await api.delete(desk)).body, { status: 'removed' });
  t.equal(await gateway.stop(), 0);
}

interface Killing {
  readonly api: Client;
  readonly gateway: RunningGateway;
  readonly wire: Wire;
  readonly people: readonly Person[];
}

/** SIGKILL while a message is with the server, whose answer has not come: again and again under many sends. */
async function killed(t: Test, { api, gateway, wire, people }: Killing): Promise<void> {
  const before = people.map(({ received }) => received.length);
  const shown = () => people.flatMap(({ received }, n) => received.slice(before[n]));
  const ids: string[] = [];
  const send = async (): Promise<void> => {
    for (let sent = 0; sent < count / kills / 2; sent += 1) {
      const n = ids.length;
      const body = { to: { address: people[n % people.length]?.nickname }, text: `message ${n}` };
      ids.push(await acceptedAtLast(api, body, `send ${n}`));
    }
  };
  for (let kill = 0; kill < kills; kill += 1) {
    await send();
    await endOf(api, ids.at(-1));
    // From now on the server has a message, but its answer does not come.
    const seen = shown().length;
    wire.held.add('desk');
    const sending = send();
    await until('a message under way', async () => (shown().length > seen ? true : undefined));
    await gateway.kill();
    wire.held.delete('desk');
    await gateway.start();
    await sending;
  }
  const ends = await Promise.all(ids.map((id) => endOf(api, id)));
  const texts = shown().map(({ text }) => text);
  t.same(texts.toSorted(), ends.map(({ text }) => text).toSorted(), 'none lost, none doubled');
  const uncertain = ends.filter(({ status }) => status === 'failed');
  t.ok(uncertain.every(({ error }) => error?.startsWith('delivery_uncertain')));
  t.equal(uncertain.length, kills, 'what was under way is said to be uncertain');
  for (const { received } of people) {
    const numbers = received
      .flatMap(({ text }) => /^message (\d+)/.exec(text)?.[1] ?? [])
      .map(Number);
    t.same(
      numbers,
      numbers.toSorted((one, other) => one - other),
      'in order',
    );
  }
}

/** The message once it is sent or has failed. */
async function endOf(api: Client, id = ''): Promise<ShownMessage> {
  return await until(`the end of ${id}`, async () => {
    const message = await messageOf(api, id);
    return ['sent', 'failed'].includes(message.status) ? message : undefined;
  });
}

/** Sends until the gateway has answered; answers the id. */
async function acceptedAtLast(api: Client, body: object, key: string): Promise<string> {
  return await until(`${key} to be accepted`, async () => {
    const answer = await api.post('/messages', body, { 'idempotency-key': key }).catch(() => null);
    return answer?.status === 202 ? bodyOf<{ id: string }>(answer).id : undefined;
  });
}

/** The first messages that came in, oldest first. */
async function inboundOf(api: Client, number: number): Promise<readonly ShownMessage[]> {
  return await until(`${number} messages`, async () => {
    const answer = await api.get('/messages?direction=inbound');
    const { messages } = bodyOf<{ messages: ShownMessage[] }>(answer);
    return messages.length >= number ? messages.toReversed() : undefined;
  });
}

async function statusOf(api: Client): Promise<string> {
  return bodyOf<{ status: string }>(await api.get(`${desk}/status`)).status;
}

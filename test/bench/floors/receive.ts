// The floor of receiving: by hand for each line that the network offers on a socket one durable row, then its
// acknowledgement and the answer to the long poll that is held open, from memory. Each phone has an inbox of its own, the
// phone itself is the key to it. The same libraries, connections to the database and network as the gateway has.
import Fastify from 'fastify';
import type { MessageEvent } from '../../../core/contracts/driver.ts';
import { createLog } from '../../../core/log.ts';
import { connectTo } from '../../../drivers/simulated/connection.ts';
import { parseNetworkUrl } from '../../../drivers/simulated/network/address.ts';
import type { SessionNotice } from '../../../drivers/simulated/network/protocol.ts';
import { connect } from '../../../plugins/storage/connection.ts';

const { DATABASE_URL = '', SIMULATED_NETWORK_URL = '', PHONES = '', PORT = '0' } = process.env;
const pageSize = 50;

interface Inbox {
  readonly messages: object[];
  readonly held: Set<() => void>;
}

const database = connect(DATABASE_URL, createLog('silent')).write;
const id = 'varchar(64) character set ascii collate ascii_bin';
await database.raw(
  `create table if not exists floor_inbound (
     account_id ${id} not null, network_id ${id} not null, phone varchar(40) not null,
     body text not null, created_at bigint not null, primary key (account_id, network_id))`,
);
const inboxes = new Map<string, Inbox>();
for (const phone of PHONES.split(',')) {
  inboxes.set(phone, { messages: [], held: new Set() });
  await link(phone);
}

async function link(phone: string): Promise<void> {
  const { secret, ...place } = parseNetworkUrl(SIMULATED_NETWORK_URL);
  if (secret === null) throw new Error('SIMULATED_NETWORK_URL has no secret');
  const role = { role: 'session', network: 'floor', channel: 'msgapp_web', phone } as const;
  const lines = await connectTo(
    { ...place, secret, instance: null },
    role,
    new AbortController().signal,
  );
  let stored = Promise.resolve();
  lines.onFrame = (frame) => {
    // The network speaks its protocol.
    const notice = frame as SessionNotice;
    if (notice.type === 'linked') lines.write({ type: 'ready' });
    if (notice.type !== 'offer' || notice.event.type !== 'message') return;
    const { offer, event } = notice;
    // In the order in which they were written; the phones beside each other.
    stored = stored
      .then(() => store(phone, event))
      .then(() => lines.write({ type: 'ack', offers: [offer] }));
  };
  lines.write({ type: 'link', method: 'qr', contacts: false, history: false });
}

async function store(account_id: string, event: MessageEvent): Promise<void> {
  const { networkId: network_id, from, text } = event;
  const created_at = Date.now();
  const { phone } = from;
  await database('floor_inbound').insert({ account_id, network_id, phone, body: text, created_at });
  const inbox = inboxes.get(account_id);
  inbox?.messages.push({ id: network_id, account_id, text, contact: { phone }, created_at });
  for (const answer of inbox?.held ?? []) answer();
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const message = {
  type: 'object',
  properties: {
    id: text,
    account_id: text,
    text,
    contact: { type: 'object', properties: { phone: text } },
    created_at: integer,
  },
} as const;
const schema = {
  querystring: { type: 'object', properties: { cursor: integer, timeout_s: integer } },
  response: {
    200: {
      type: 'object',
      properties: { messages: { type: 'array', items: message }, next_cursor: text },
    },
  },
} as const;

const app = Fastify({ logger: false });
app.get<{ Querystring: { readonly cursor?: number; readonly timeout_s: number } }>(
  '/v1/messages/wait',
  { schema },
  async ({ query, headers }, reply) => {
    const inbox = inboxes.get(String(headers['x-api-key']));
    if (inbox === undefined) return reply.code(401).send();
    const from = query.cursor ?? inbox.messages.length;
    if (inbox.messages.length === from) await held(inbox, query.timeout_s * 1_000);
    const messages = inbox.messages.slice(from, from + pageSize);
    return { messages, next_cursor: String(from + messages.length) };
  },
);
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('listening');

async function held({ held }: Inbox, timeoutMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const answer = (): void => {
      clearTimeout(timer);
      held.delete(answer);
      resolve();
    };
    const timer = setTimeout(answer, timeoutMs);
    held.add(answer);
  });
}

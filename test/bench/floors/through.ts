// The floor of the whole way: what `through` measures, by hand. A bare route stores a row and has its envelope confirmed
// by the broker; a consumer takes it, stores the intent and hands it to a network; each of the network's three answers
// is stored, acknowledged, posted and noted, one message's after each other. One durable statement for each of these.
// The same libraries, numbers of connections and requests at once as the gateway has.
import { randomUUID } from 'node:crypto';
import { connect as open } from 'node:net';
import Fastify from 'fastify';
import { Connection } from 'rabbitmq-client';
import { Pool } from 'undici';
import { createLog } from '../../../core/log.ts';
import { LineSocket } from '../../../drivers/simulated/lines.ts';
import { connect } from '../../../plugins/storage/connection.ts';
import { attemptHeaders } from '../../../plugins/webhooks/attempt.ts';

const { DATABASE_URL = '', AMQP_URL = '', PORT = '0' } = process.env;
const { NETWORK_PORT = '0', RECEIVER_URL = '' } = process.env;
/** Envelopes that are taken at once. */
const prefetch = 64;
/** Requests that the receiver gets at once. */
const connections = 10;
const secrets = { current: 'whsec_of_the_floor', previous: null };

const text = { type: 'string', maxLength: 4_096 };
const body = {
  type: 'object',
  properties: {
    account_id: text,
    to: { type: 'object', properties: { phone: text }, required: ['phone'] },
    text,
  },
  required: ['account_id', 'to', 'text'],
  additionalProperties: false,
} as const;
const answer = {
  type: 'object',
  properties: { id: text, status: text, account_id: text, created_at: text },
} as const;
interface SendBody {
  readonly account_id: string;
  readonly to: { readonly phone: string };
  readonly text: string;
}
interface Envelope extends SendBody {
  readonly id: string;
}
type Status = 'sent' | 'delivered' | 'read';

const database = connect(DATABASE_URL, createLog('silent')).write;
const id = 'varchar(64) character set ascii collate ascii_bin';
await database.raw(
  `create table floor_messages (
     id ${id} primary key, account_id ${id} not null, phone varchar(40) not null, body text not null,
     status varchar(20) not null, created_at bigint not null, dispatched_at bigint, sent_at bigint,
     delivered_at bigint, read_at bigint)`,
);
await database.raw(
  `create table floor_deliveries (
     id ${id} primary key, message_id ${id} not null, event varchar(40) not null,
     status_code int not null, created_at bigint not null)`,
);
const envelopes = new Map<string, Envelope>();
const settled = new Map<string, Promise<void>>();
const network = new LineSocket(open({ host: '127.0.0.1', port: Number(NETWORK_PORT) }));
network.onFrame = (frame) => {
  // The peer says nothing else.
  const { reference, status } = frame as { reference: string; status: Status };
  const before = settled.get(reference) ?? Promise.resolve();
  settled.set(
    reference,
    before.then(() => arrive(reference, status)),
  );
};
const receiver = new Pool(new URL(RECEIVER_URL).origin, { connections, pipelining: 1 });

async function arrive(reference: string, status: Status): Promise<void> {
  const envelope = envelopes.get(reference);
  if (envelope === undefined) throw new Error(`nobody sent ${reference}`);
  const at = Date.now();
  await database('floor_messages')
    .where({ id: reference })
    .update({ status, [`${status}_at`]: at });
  network.write({ taken: reference });
  await post(envelope, status, at);
  if (status !== 'read') return;
  envelopes.delete(reference);
  settled.delete(reference);
}

async function post(
  { id: messageId, account_id, to, text }: Envelope,
  status: Status,
  at: number,
): Promise<void> {
  const event = `message.${status}` as const;
  const payload = JSON.stringify({
    event,
    created_at: new Date(at).toISOString(),
    account_id,
    channel: 'msgapp_web',
    message: { id: messageId, direction: 'outbound', text, media: null, status, error: null },
    contact: { id: to.phone, phone: to.phone, name: to.phone },
  });
  const id = randomUUID();
  const facts = { event, deliveryId: id, number: 1, payload, secrets };
  const headers = attemptHeaders(facts, Math.floor(at / 1000));
  const taken = await receiver.request({ path: '/', method: 'POST', headers, body: payload });
  await taken.body.dump();
  const { statusCode: status_code } = taken;
  const row = { id, message_id: messageId, event, status_code, created_at: at };
  await database('floor_deliveries').insert(row);
}

const rabbit = new Connection({ url: AMQP_URL, noDelay: true });
rabbit.on('error', (error) => console.error(error));
const publisher = rabbit.createPublisher({ confirm: true });
const queue = 'floor.through';
rabbit.createConsumer(
  { queue, queueOptions: { exclusive: true }, qos: { prefetchCount: prefetch } },
  async (message) => {
    const envelope = JSON.parse(String(message.body)) as Envelope;
    const { id } = envelope;
    await database('floor_messages').where({ id }).update({ dispatched_at: Date.now() });
    envelopes.set(id, envelope);
    network.write({ reference: id, to: envelope.to.phone, text: envelope.text });
  },
);

const app = Fastify({ logger: false });
app.post<{ Body: SendBody }>(
  '/v1/messages',
  { schema: { body, response: { 202: answer } } },
  async (request, reply) => {
    const { account_id, to, text } = request.body;
    const id = randomUUID();
    const created_at = Date.now();
    const row = { id, account_id, phone: to.phone, body: text, status: 'queued', created_at };
    await database('floor_messages').insert(row);
    await publisher.send(queue, JSON.stringify({ id, ...request.body }));
    return reply
      .code(202)
      .send({ id, status: 'queued', account_id, created_at: new Date(created_at).toISOString() });
  },
);
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('listening');

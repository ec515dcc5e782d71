// The floor of accepting: a bare route with a schema, and by hand for each request one durable row and, where there is a
// broker, one confirmed message. The same libraries and numbers of connections as the gateway has.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Connection } from 'rabbitmq-client';
import { createLog } from '../../../core/log.ts';
import { connect } from '../../../plugins/storage/connection.ts';

const { DATABASE_URL = '', AMQP_URL, PORT = '0' } = process.env;
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

const database = connect(DATABASE_URL, createLog('silent')).write;
const id = 'varchar(64) character set ascii collate ascii_bin';
const isMysql = DATABASE_URL.startsWith('mysql:');
await database.raw(
  `create table if not exists floor_messages (
     id ${isMysql ? id : 'text'} primary key, account_id ${isMysql ? id : 'text'} not null,
     phone ${isMysql ? 'varchar(40)' : 'text'} not null, body text not null,
     status ${isMysql ? 'varchar(20)' : 'text'} not null, created_at bigint not null)`,
);
const rabbit = AMQP_URL === undefined ? null : new Connection({ url: AMQP_URL, noDelay: true });
rabbit?.on('error', (error) => console.error(error));
const publisher = rabbit?.createPublisher({
  confirm: true,
  exchanges: [{ exchange: 'floor', type: 'direct', durable: true }],
});

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
    const envelope = { exchange: 'floor', routingKey: account_id };
    await publisher?.send(
      envelope,
      JSON.stringify({ queued: { [account_id]: [[id, created_at, to.phone, null]] } }),
    );
    return reply
      .code(202)
      .send({ id, status: 'queued', account_id, created_at: new Date(created_at).toISOString() });
  },
);
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('listening');

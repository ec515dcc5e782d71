// The floor of deliveries: signs and posts in loops, as many to each receiver as it gets requests at once from the gateway,
// and stores a row of each. `PUT /` says what goes to whom, `POST /` begins and is answered when all is done. The same
// libraries and numbers of connections as the gateway has.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Pool } from 'undici';
import { createLog } from '../../../core/log.ts';
import { connect } from '../../../plugins/storage/connection.ts';
import { attemptHeaders } from '../../../plugins/webhooks/attempt.ts';

const { DATABASE_URL = '', PORT = '0' } = process.env;
/** Requests that one receiver gets at once. */
const concurrency = 10;
const secrets = { current: 'whsec_of_the_floor', previous: null };

/** What is to be done. */
interface Order {
  readonly urls: readonly string[];
  /** What each of them gets, one after the other. */
  readonly payloads: readonly string[];
}

const database = connect(DATABASE_URL, createLog('silent')).write;
const id = 'varchar(64) character set ascii collate ascii_bin';
await database.raw(
  `create table floor_deliveries (
     id ${id} primary key, event varchar(40) not null, status_code int not null, created_at bigint not null)`,
);
const pools = new Map<string, Pool>();

async function deliver(pool: Pool, payload: string): Promise<void> {
  const id = randomUUID();
  const at = Date.now();
  const event = 'message.read';
  const headers = attemptHeaders(
    { event, deliveryId: id, number: 1, payload, secrets },
    Math.floor(at / 1000),
  );
  const taken = await pool.request({ path: '/', method: 'POST', headers, body: payload });
  await taken.body.dump();
  const row = { id, event, status_code: taken.statusCode, created_at: at };
  await database('floor_deliveries').insert(row);
}

async function deliverAll(url: string, payloads: readonly string[]): Promise<void> {
  const pool =
    pools.get(url) ?? new Pool(new URL(url).origin, { connections: concurrency, pipelining: 1 });
  pools.set(url, pool);
  const left = payloads.values();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const payload of left) await deliver(pool, payload);
    }),
  );
}

const app = Fastify({ logger: false, bodyLimit: 64 * 1024 * 1024 });
let order: Order = { urls: [], payloads: [] };
app.put<{ Body: Order }>('/', async ({ body }) => {
  order = body;
  return {};
});
app.post('/', async () => {
  await Promise.all(order.urls.map((url) => deliverAll(url, order.payloads)));
  return {};
});
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('listening');

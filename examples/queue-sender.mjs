// A sender that works off a queue of RabbitMQ. Each job is `{"to": {"phone": "+1…"}, "text": "…"}`, with `account_id`
// where there are several accounts, and a message id of your choice, such as the number of an invoice: jobs with the
// same id are one message (within the 24 hours for which the gateway keeps an Idempotency-Key).
//   KEY=gw_… AMQP_URL=amqp://guest:guest@127.0.0.1 node examples/queue-sender.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient, isRefusal } from 'messaging-gateway/client';
import { Connection, ConsumerStatus } from 'rabbitmq-client';

const client = new GatewayClient({
  baseUrl: process.env.BASE ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.KEY ?? '',
});
const queue = process.env.QUEUE ?? 'outgoing-texts';
const failed = `${queue}.failed`;
const rabbit = new Connection(process.env.AMQP_URL ?? 'amqp://guest:guest@127.0.0.1');
rabbit.on('error', (error) => console.log(error.message));
const stop = new AbortController();
const { signal } = stop;

/** Does one job, and says what becomes of it: done, put back, or dropped into the queue of failed jobs. */
async function send({ body: job, messageId }) {
  if (!isKey(messageId)) {
    console.log('failed: a job without a message id that a header can have');
    return ConsumerStatus.DROP;
  }
  try {
    const { id } = await client.send(job, { idempotencyKey: messageId, signal });
    // Only now, as the gateway has stored it, the job may go. If this program dies before, the job comes again.
    console.log('accepted', messageId, id);
    return ConsumerStatus.ACK;
  } catch (error) {
    const mayPass = !isRefusal(error) || passing(error);
    console.log(mayPass ? 'put back' : 'failed', messageId, error.message);
    if (!mayPass) return ConsumerStatus.DROP;
    // Ten refusals as opener_burst in ten minutes would restrict the account for an hour.
    const pauseS = error.code === 'opener_burst' ? 90 : Math.min(error.retryAfterS ?? 5, 60);
    await sleep(pauseS * 1000, null, { signal }).catch(() => {});
    return ConsumerStatus.REQUEUE;
  }
}

/** Whether a message id can be an Idempotency-Key: it is there, and each of its characters may be in a header. */
function isKey(messageId) {
  try {
    return Boolean(messageId && new Headers({ 'Idempotency-Key': messageId }));
  } catch {
    return false;
  }
}

/** Whether the same job may be taken later. The client has already repeated it for a minute. */
function passing({ status, code }) {
  if (code === 'unauthorized' || code === 'no_connected_account') return true; // somebody has to act first
  return status === 429 || status >= 500; // a daily cap, a database that is away
}

await rabbit.queueDeclare({ queue: failed, durable: true });
const consumer = rabbit.createConsumer(
  {
    queue,
    queueOptions: {
      durable: true,
      arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': failed },
    },
    // One after the other keeps the jobs in order. More sends faster, in any order.
    concurrency: 1,
    qos: { prefetchCount: 1 },
  },
  send,
);
consumer.on('ready', () => console.log('working off', queue));
consumer.on('error', (error) => console.log(error.message));

for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, async () => {
    stop.abort();
    await consumer.close(); // puts back the job that is under way
    await rabbit.close();
  });
}

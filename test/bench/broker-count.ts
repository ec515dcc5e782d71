import { Connection } from 'rabbitmq-client';
import { positionsOf } from '../../plugins/messages/dispatch/envelope.ts';
import type { Teardown } from '../harness/processes.ts';
import { until } from '../harness/story.ts';

/** How many messages RabbitMQ has been told of so far. */
export interface BrokerCount {
  /** Waits until it has been told of so many since the last call; answers when that was, by `performance.now()`. */
  reached(count: number): Promise<number>;
}

/** Counts the messages that are named on an exchange, through a queue of its own. */
export async function countAtBroker(
  t: Teardown,
  { url, exchange, keys }: { url: string; exchange: string; keys: readonly string[] },
): Promise<BrokerCount> {
  const rabbit = new Connection({ url, noDelay: true });
  t.teardown(() => rabbit.close());
  let counted = 0;
  let lastAt = 0;
  const queueBindings = keys.map((routingKey) => ({ exchange, routingKey }));
  const consumer = rabbit.createConsumer(
    {
      noAck: true,
      exchanges: [{ exchange, type: 'direct', durable: true }],
      queueOptions: { exclusive: true },
      queueBindings,
    },
    (message) => {
      const body = parsed(message.body);
      for (const key of keys) counted += positionsOf(body, key).length;
      lastAt = performance.now();
    },
  );
  t.teardown(() => consumer.close());
  await new Promise<void>((resolve) => {
    consumer.once('ready', resolve);
  });
  return {
    async reached(count) {
      await until(`${count} messages at the broker`, async () =>
        counted >= count ? 1 : undefined,
      );
      if (counted > count) throw new Error(`${counted} messages at the broker instead of ${count}`);
      counted = 0;
      return lastAt;
    },
  };
}

/** The gateway's envelopes and the floor's come as text or bytes. */
function parsed(body: unknown): unknown {
  return JSON.parse(String(body));
}

import { randomBytes } from 'node:crypto';
import { type Channel, Connection } from 'rabbitmq-client';
import type { Test } from 'tap';
import { createLog } from '../../../core/log.ts';
import { RabbitmqBroker, type RabbitmqBrokerOptions } from '../../../plugins/broker/rabbitmq.ts';
import { defaultTiming, type RabbitmqTiming } from '../../../plugins/broker/timing.ts';
import { Topology } from '../../../plugins/broker/topology.ts';
import { until } from '../../harness/story.ts';

/** The work queue that the tests use. */
export const jobs = 'jobs';

/** Waits less than production would, so that a fault test is short. */
export const impatient: RabbitmqTiming = {
  ...defaultTiming,
  connectMs: 3_000,
  pulseMs: 1_000,
  patienceMs: 3_000,
  retryMaxMs: 400,
  closeMs: 1_000,
};

/** Brokers that share names which no other test knows. */
export class RabbitmqWorld {
  readonly topology: Topology;
  readonly #t: Test;
  readonly #url: string;
  readonly #prefix: string;

  constructor(t: Test, url: string) {
    this.#t = t;
    this.#url = url;
    this.#prefix = `gateway-test-${randomBytes(6).toString('hex')}.`;
    this.topology = new Topology(this.#prefix);
    t.teardown(() => this.#cleanUp());
  }

  /** A broker that may not be connected yet. */
  make(options: Partial<RabbitmqBrokerOptions> = {}): RabbitmqBroker {
    const [url, prefix, log] = [this.#url, this.#prefix, createLog('silent')];
    const broker = new RabbitmqBroker({ url, prefix, log, ...options });
    this.#t.teardown(() => broker.close());
    return broker;
  }

  async open(options: Partial<RabbitmqBrokerOptions> = {}): Promise<RabbitmqBroker> {
    const broker = this.make(options);
    await ready(broker);
    return broker;
  }

  /** Looks at RabbitMQ from outside. @throws when it is not there */
  async look<T>(run: (channel: Channel) => Promise<T>): Promise<T> {
    const connection = new Connection({ url: this.#url, noDelay: true, retryLow: 60_000 });
    connection.on('error', () => undefined);
    try {
      await connection.onConnect(2_000, true);
      const channel = await connection.acquire({ emitErrorsFromChannel: true });
      channel.on('error', () => undefined);
      const found = await run(channel);
      await channel.close();
      return found;
    } finally {
      connection.unsafeDestroy();
    }
  }

  /** A RabbitMQ that the tests were given keeps nothing of them. */
  async #cleanUp(): Promise<void> {
    const { hosts, topics, processes, dead } = this.topology;
    const clean = this.look(async (channel) => {
      for (const queue of [this.topology.work(jobs), dead]) await channel.queueDelete({ queue });
      for (const exchange of [hosts, topics, processes, dead]) {
        await channel.exchangeDelete({ exchange });
      }
    });
    await clean.catch(() => undefined);
  }
}

/** Waits until messages are carried; answers after how many milliseconds. */
export async function ready(broker: RabbitmqBroker, timeoutMs = 15_000): Promise<number> {
  const begun = performance.now();
  await until('RabbitMQ', async () => (broker.ready() ? true : undefined), timeoutMs);
  return performance.now() - begun;
}

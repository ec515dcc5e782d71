import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { ClosableBroker } from './contract.ts';
import { MemoryBroker } from './memory.ts';

export default gatewayPlugin('broker', [], async (app) => {
  const { config, log } = app.container.cradle;
  const broker = await openBroker(config.amqp_url, log.child({ plugin: 'broker' }));
  provide(app.container, 'broker', broker);
  app.addHook('onClose', () => broker.close());
});

/** Chooses the broker of this process. RabbitMQ may be away at the start: it is connected to when it is there. */
async function openBroker(amqpUrl: string | null, log: GatewayLog): Promise<ClosableBroker> {
  if (amqpUrl === null) return new MemoryBroker({ log });
  const { RabbitmqBroker } = await import('./rabbitmq.ts');
  return new RabbitmqBroker({ url: amqpUrl, log });
}

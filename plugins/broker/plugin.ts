import { readAuthority } from '../../core/authority.ts';
import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { ClosableBroker, OnDropped } from './contract.ts';
import { MemoryBroker } from './memory.ts';
import { dropMeter, showBroker } from './metrics.ts';
import type { RabbitmqBrokerOptions } from './rabbitmq.ts';

export default gatewayPlugin('broker', ['observability'], async (app) => {
  const { config, log, metrics } = app.container.cradle;
  const ca = readAuthority('AMQP_CA', config.amqp_ca);
  const options = { ca, log: log.child({ plugin: 'broker' }), onDropped: dropMeter(metrics) };
  const broker = await openBroker(config.amqp_url, options);
  showBroker(metrics, broker);
  provide(app.container, 'broker', broker);
  app.addHook('onClose', () => broker.close());
});

/** Chooses the broker of this process. RabbitMQ may be away at the start: it is connected to when it is there. */
async function openBroker(
  amqpUrl: string | null,
  options: Pick<RabbitmqBrokerOptions, 'ca' | 'log'> & { readonly onDropped: OnDropped },
): Promise<ClosableBroker> {
  if (amqpUrl === null) return new MemoryBroker(options);
  const { RabbitmqBroker } = await import('./rabbitmq.ts');
  return new RabbitmqBroker({ url: amqpUrl, ...options });
}

import { readAuthority } from '../../core/authority.ts';
import { provide } from '../../core/container.ts';
import { type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import { type BrokerLimits, type ClosableBroker, defaultLimits } from './contract.ts';
import { MemoryBroker } from './memory.ts';
import { dropMeter, showBroker } from './metrics.ts';
import type { RabbitmqBrokerOptions } from './rabbitmq.ts';

export default brokerPlugin(defaultLimits);

/** The broker of a process, with limits of its own. */
export function brokerPlugin(limits: BrokerLimits): GatewayPlugin {
  return gatewayPlugin('broker', ['observability'], async (app) => {
    const { config, log, metrics } = app.container.cradle;
    const broker = await openBroker(config.amqp_url, {
      ca: readAuthority('AMQP_CA', config.amqp_ca),
      log: log.child({ plugin: 'broker' }),
      limits,
      onDropped: dropMeter(metrics),
    });
    showBroker(metrics, broker);
    provide(app.container, 'broker', broker);
    app.addHook('onClose', () => broker.close());
  });
}

/** Chooses the broker of this process. RabbitMQ may be away at the start: it is connected to when it is there. */
async function openBroker(
  amqpUrl: string | null,
  options: Pick<RabbitmqBrokerOptions, 'ca' | 'log' | 'limits' | 'onDropped'>,
): Promise<ClosableBroker> {
  if (amqpUrl === null) return new MemoryBroker(options);
  const { RabbitmqBroker } = await import('./rabbitmq.ts');
  return new RabbitmqBroker({ url: amqpUrl, ...options });
}

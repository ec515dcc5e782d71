import Fastify from 'fastify';
import { connectionLimits, oneAddress } from '../../core/connections.ts';
import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { gatewayVersion } from '../../core/version.ts';
import { PrometheusMetrics } from './metrics.ts';
import { addProbes, type Check } from './probes.ts';
import { measureRequests } from './requests.ts';

/**
 * Health, readiness and metrics. Boots first, so that every plugin can measure; asks the others only when
 * a probe comes.
 */
export default gatewayPlugin('observability', [], async (app) => {
  const { container } = app;
  const { config, log } = container.cradle;
  const metrics = new PrometheusMetrics((error) =>
    log.debug({ err: error }, 'gauges could not be read from the database'),
  );
  provide(container, 'metrics', metrics);
  const build = { version: gatewayVersion, node_version: process.version };
  metrics.gauge('gateway_build_info', () => [{ labels: build, value: 1 }]);
  provide(container, 'requestMetrics', measureRequests(app, metrics));

  const running: Check = {
    name: 'process',
    run: async () => {
      if (container.cradle.stopping.aborted) throw new Error('the gateway stops');
    },
  };
  const checks: readonly Check[] = [
    { name: 'database', run: () => container.cradle.storage.ping() },
    { name: 'database_write', run: () => container.cradle.storage.probe() },
    {
      name: 'broker',
      run: async () => {
        if (!container.cradle.broker.ready()) throw new Error('the broker is away');
      },
    },
    running,
  ];
  // The probes' own port may be open before.
  const listening: Check = {
    name: 'port',
    run: async () => {
      if (!app.server.listening) throw new Error('the gateway starts');
    },
  };
  const probed = { checks, serving: [listening, running], metrics };
  if (config.metrics_port === null) {
    addProbes(app, probed);
    return;
  }
  const port = config.metrics_port;
  const probes = Fastify({ ...connectionLimits, forceCloseConnections: true });
  addProbes(probes, probed);
  app.addHook('onReady', async () => {
    const address = await probes.listen({ host: oneAddress(config.host), port });
    log.info({ address }, 'health, readiness and metrics have a port of their own');
  });
  app.addHook('onClose', () => probes.close());
});

import { hostname } from 'node:os';
import { provide } from '../../core/container.ts';
import { secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import './contract.ts';
import { ClusterMember } from './member.ts';
import { OtherProcesses } from './others.ts';

/** The processes of the gateway: the heartbeat of this one, and its leases. */
export default gatewayPlugin(
  'cluster',
  ['observability', 'database-lock', 'storage', 'broker'],
  async (app) => {
    const { broker, clock, config, isAlone, log, metrics, storage } = app.container.cradle;
    const { amqp_url, process_name, port, roles, sessions } = config;
    // A port that the system chose is another after a restart.
    const usualName = `${hostname()}:${port === 0 ? broker.processId : port}`;
    const stalled = metrics.counter('gateway_event_loop_stalled_seconds_total');
    const member = new ClusterMember({
      ...{ storage, clock, roles, isAlone },
      log: log.child({ plugin: 'cluster' }),
      processId: broker.processId,
      name: process_name ?? usualName,
      leaseMs: secondsMs(sessions.lease_s),
      stoodStill: (ms) => stalled.add({}, ms / 1_000),
    });
    provide(app.container, 'cluster', member);
    app.addHook('onReady', () => member.start());
    if (!isAlone && amqp_url === null) {
      const { processId } = broker;
      const { processes } = storage.read;
      const others = new OtherProcesses({
        processes,
        processId,
        log: log.child({ plugin: 'cluster' }),
      });
      app.addHook('onReady', async () => others.start());
      app.addHook('onClose', () => others.stop());
    }
    app.addHook('onListen', async () => member.inherit());
    app.addHook('onClose', () => member.stop());
  },
);

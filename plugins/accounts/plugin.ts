import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { assembleAccounts } from './assemble.ts';
import { accountMetrics } from './metrics.ts';
import { accountsOf } from './operations/list-accounts.ts';
import { accountOperations } from './operations.ts';
import { systemTimers } from './session/timers.ts';

/** Accounts: their records, their connection operations, and the sessions that this process hosts. */
export default gatewayPlugin(
  'accounts',
  ['observability', 'storage', 'secrets', 'broker', 'tenants', 'media'],
  async (app) => {
    const { cradle } = app.container;
    const { sessions: configured, roles } = cradle.config;
    const { accounts, sessions, channels, connections, process } = assembleAccounts({
      storage: cradle.storage,
      broker: cradle.broker,
      log: cradle.log.child({ plugin: 'accounts' }),
      clock: cradle.clock,
      timers: systemTimers,
      sealer: cradle.secrets,
      channels: cradle.channels,
      media: cradle.media,
      faults: cradle.driverFaults,
      metrics: accountMetrics(cradle.metrics),
      plans: cradle.plans,
      roles,
      settings: {
        capacity: configured.capacity,
        leaseMs: configured.lease_s * 1_000,
        reconnectMaxMs: configured.reconnect_max_s * 1_000,
        pairingTimeoutMs: configured.pairing_timeout_s * 1_000,
        requestTimeoutMs: configured.request_timeout_s * 1_000,
      },
      random: Math.random,
    });
    provide(app.container, 'sessions', sessions);
    // The limits boot later, so they are looked up at each call.
    const listParts = { storage: cradle.storage, limits: () => cradle.limits };
    provide(app.container, 'accounts', {
      ...accounts,
      list: (caller) => accountsOf(listParts, caller),
    });
    app.operations.add(...accountOperations({ ...listParts, channels, connections }));
    app.addHook('onReady', () => process.start());
    app.addHook('onClose', () => process.stop());
  },
);

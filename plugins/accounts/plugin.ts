import { provideSingleton } from '../../core/container.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import { secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { publicUrl } from '../../core/public-url.ts';
import type {} from '../erasure/contract.ts';
import { assembleAccounts } from './assemble.ts';
import { linkLane } from './lanes/link.ts';
import { OwnerLinks } from './links.ts';
import { makeAccountMetrics, showAccounts } from './metrics.ts';
import { accountsOf } from './operations/list-accounts.ts';
import { accountOperations } from './operations.ts';
import { AccountProxies } from './proxies.ts';
import { LoginGate } from './session/login-gate.ts';
import { systemTimers } from './session/timers.ts';

/** Accounts: their records, their connection operations, and the sessions that this process hosts. */
export default gatewayPlugin(
  'accounts',
  [
    'observability',
    'storage',
    'secrets',
    'broker',
    'cluster',
    'tenants',
    'egress',
    'media',
    'erasure',
  ],
  async (app) => {
    const { cradle } = app.container;
    const { sessions: configured, roles } = cradle.config;
    const gate = new LoginGate({
      perSecond: configured.logins_per_s,
      timers: systemTimers,
      random: Math.random,
      clock: cradle.clock,
    });
    const log = cradle.log.child({ plugin: 'accounts' });
    const proxies = new AccountProxies({
      log,
      sealer: cradle.secrets,
      egress: cradle.egress,
      allowPrivate: configured.allow_private_proxies,
    });
    const { accounts, sessions, channels, connections, changeProxy, process } = assembleAccounts({
      storage: cradle.storage,
      broker: cradle.broker,
      cluster: cradle.cluster,
      log,
      clock: cradle.clock,
      timers: systemTimers,
      gate,
      sealer: cradle.secrets,
      channels: cradle.channels,
      media: cradle.media,
      proxies,
      faults: cradle.driverFaults,
      metrics: makeAccountMetrics(cradle.metrics, cradle.channels.channels()),
      plans: cradle.plans,
      roles,
      settings: {
        capacity: configured.capacity,
        reconnectMaxMs: secondsMs(configured.reconnect_max_s),
        pairingTimeoutMs: secondsMs(configured.pairing_timeout_s),
        requestTimeoutMs: secondsMs(configured.request_timeout_s),
      },
      random: Math.random,
    });
    const { capacity } = configured;
    const held = { size: () => process.host.size, capacity };
    showAccounts(cradle.metrics, cradle.storage, roles.includes('sessions') ? held : null);
    cradle.erasures.add('ten', ({ tenantId }) => connections.removeSome(tenantId));
    const list = (caller: Caller) => accountsOf(cradle, proxies, caller);
    provideSingleton(app.container, 'sessions', () => sessions);
    provideSingleton(app.container, 'accounts', () => ({ ...accounts, list }));
    const links = new OwnerLinks({
      storage: cradle.storage,
      link: linkLane,
      connections,
      authenticator: cradle.authenticator,
      log,
    });
    const consoleUrl = () =>
      cradle.config.console.enabled ? `${publicUrl(app.server, cradle.config)}/console` : null;
    const { storage } = cradle;
    app.operations.add(
      ...accountOperations({
        ...{ list, storage, channels, connections, proxies, links, consoleUrl },
        change: changeProxy,
      }),
    );
    app.addHook('onReady', () => process.start());
    app.addHook('onClose', () => process.stop());
  },
);

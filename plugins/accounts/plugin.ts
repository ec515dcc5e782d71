import { provide } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { Connections } from './connections.ts';
import type { SessionPart } from './contract.ts';
import { connectLane } from './lanes/connect.ts';
import { removeLane } from './lanes/remove.ts';
import { restrictLane } from './lanes/restrict.ts';
import { transitionLane } from './lanes/transition.ts';
import { undoLane } from './lanes/undo.ts';
import { accountOperations } from './operations.ts';
import { SessionProcess } from './session/process.ts';
import { systemTimers } from './session/timers.ts';
import { SessionDirectory } from './session-directory.ts';

export default gatewayPlugin(
  'accounts',
  ['storage', 'secrets', 'broker', 'tenants'],
  async (app) => {
    const { cradle } = app.container;
    const { storage, broker, clock, channels, plans } = cradle;
    const { sessions: configured, roles } = cradle.config;
    const log = cradle.log.child({ plugin: 'accounts' });
    const parts: SessionPart[] = [];
    const settings = {
      capacity: configured.capacity,
      leaseMs: configured.lease_s * 1_000,
      reconnectMaxMs: configured.reconnect_max_s * 1_000,
      pairingTimeoutMs: configured.pairing_timeout_s * 1_000,
      requestTimeoutMs: configured.request_timeout_s * 1_000,
    };
    const restrict = restrictLane(parts, broker);
    provide(app.container, 'sessions', { attach: (part) => parts.push(part) });
    provide(app.container, 'accounts', {
      restrictForSafety: (accountId, until) => storage.submit(restrict, { accountId, until }),
    });

    const process = new SessionProcess(
      {
        storage,
        broker,
        log,
        clock,
        timers: systemTimers,
        sealer: cradle.secrets,
        channels,
        lanes: {
          transition: transitionLane(parts),
          connect: connectLane(parts),
          undo: undoLane(parts),
        },
        settings,
        parts,
        random: Math.random,
      },
      roles,
    );
    const { requestTimeoutMs } = settings;
    const directory = new SessionDirectory({ storage, broker, clock, requestTimeoutMs });
    const connections = new Connections({
      storage,
      directory,
      channels,
      plans,
      remove: removeLane(parts),
    });
    app.operations.add(
      // The limits boot later, so they are looked up at each call.
      ...accountOperations({ storage, limits: () => cradle.limits }, connections),
    );
    app.addHook('onReady', () => process.start());
    app.addHook('onClose', () => process.stop());
  },
);

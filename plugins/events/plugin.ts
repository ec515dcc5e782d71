import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { startPruning } from '../../core/pruning.ts';
import type {} from './contract.ts';
import { pruneEvents } from './prune.ts';

const hourMs = 3_600_000;

/** Events: the outbox, and the deletion of old events, fanned out or not. */
export default gatewayPlugin('events', ['storage'], async (app) => {
  const { container } = app;
  const { config, log, storage } = container.cradle;
  provideSingleton(container, 'outbox', (cradle) => ({
    prepare: (tables, tenantIds) => cradle.directFanOut(tables, tenantIds),
    onCommit: (listener) => storage.onCommit('events', listener),
  }));
  const pruning = startPruning(pruneEvents, {
    storage,
    keptMs: config.messages.events_h * hourMs,
    log: log.child({ plugin: 'events' }),
  });
  app.addHook('onClose', () => pruning.stop());
});

import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { startPruning } from '../../core/pruning.ts';
import type {} from '../media/contract.ts';
import type {} from '../messages/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from './contract.ts';
import { Feed } from './feed/feed.ts';
import { listEvents } from './feed/list-events.ts';
import { EventNotifier } from './feed/notifier.ts';
import { EventPolls } from './feed/polls.ts';
import { pruneEvents } from './prune.ts';

const hourMs = 3_600_000;

/** Events: the outbox, the feed that clients read, and the deletion of old events, fanned out or not. */
export default gatewayPlugin(
  'events',
  ['observability', 'storage', 'broker', 'secrets', 'tenants'],
  async (app) => {
    const { container } = app;
    const { cradle } = container;
    const { authenticator, broker, clock, config, cursors, metrics, storage } = cradle;
    const log = cradle.log.child({ plugin: 'events' });
    const keptMs = config.messages.events_h * hourMs;
    provideSingleton(container, 'outbox', (cradle) => ({
      prepare: (tables, tenantIds) => cradle.directFanOut(tables, tenantIds),
      onCommit: (listener) => storage.onCommit('events', listener),
    }));
    const polls = new EventPolls({
      feed: new Feed(storage, clock),
      read: storage.read,
      slots: () => cradle.eventSlots,
      ...{ authenticator, clock, log },
    });
    metrics.gauge('gateway_long_polls_open', () => [
      { labels: { kind: 'events' }, value: polls.size },
    ]);
    const notifier = new EventNotifier(broker, polls);
    storage.onCommit('raised', (tenantId) => notifier.notify(tenantId));
    const release = await notifier.listen();
    app.operations.add(
      listEvents({
        wait: (request) => polls.wait(request),
        mint: (key) => cradle.media.mint(key),
        cursors,
        keptMs,
        now: () => clock.now(),
      }),
    );
    const pruning = startPruning(pruneEvents, { storage, keptMs, log });
    app.addHook('preClose', async () => polls.stop());
    app.addHook('onClose', async () => {
      notifier.stop();
      await pruning.stop();
      await release();
    });
  },
);

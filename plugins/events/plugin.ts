import { provide, provideSingleton } from '../../core/container.ts';
import { hoursMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { MintAddress } from '../../core/media-reference.ts';
import { type NotifiedPolls, PollNotifier } from '../../core/poll-notifier.ts';
import { startPruning } from '../../core/pruning.ts';
import type {} from '../jobs/contract.ts';
import type {} from '../media/contract.ts';
import type {} from '../messages/contract.ts';
import type {} from '../secrets/contract.ts';
import type {} from './contract.ts';
import { eventPage } from './feed/event-page.ts';
import { Feed } from './feed/feed.ts';
import { listEvents } from './feed/list-events.ts';
import { EventPolls } from './feed/polls.ts';
import { pruneEvents } from './prune.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';

/** Gap between two notices to the other processes: every sent message raises events, and one notice names all. */
const noticeGapMs = 25;

/** Events: the outbox, the feed that clients read and plugins subscribe to, and the deletion of old events, fanned out or not. */
export default gatewayPlugin(
  'events',
  ['observability', 'storage', 'broker', 'secrets', 'jobs', 'tenants'],
  async (app) => {
    const { container } = app;
    const { cradle } = container;
    const { authenticator, broker, clock, config, cursors, metrics, storage } = cradle;
    const log = cradle.log.child({ plugin: 'events' });
    const keptMs = hoursMs(config.messages.events_h);
    provideSingleton(container, 'outbox', (cradle) => ({
      prepare: (tables, tenantIds) => cradle.directFanOut(tables, tenantIds),
      onCommit: (listener) => storage.onCommit('events', listener),
    }));
    const feed = new Feed(storage, clock);
    const mint: MintAddress = (key) => cradle.media.mint(key);
    const polls = new EventPolls({
      feed,
      read: storage.read,
      slots: () => cradle.eventSlots,
      ...{ authenticator, clock, log },
    });
    metrics.gauge('gateway_long_polls_open', () => [
      { labels: { kind: 'events' }, value: polls.size },
    ]);
    const subscriptions = new Subscriptions(cradle.jobs, { storage, feed, mint, log });
    provide(container, 'events', subscriptions);
    const readers: NotifiedPolls = {
      wake(tenantId) {
        polls.wake(tenantId);
        subscriptions.wake(tenantId);
      },
      rescan: () => polls.rescan(),
    };
    const notifier = new PollNotifier(broker, readers, { topic: 'raised', gapMs: noticeGapMs });
    storage.onCommit('raised', (tenantId) => notifier.notify(tenantId));
    const release = await notifier.listen();
    const pages = { mint, cursors, storage, keptMs, now: () => clock.now() };
    provide(container, 'eventPages', {
      read: (caller, query) => eventPage(pages, caller, query, (wanted) => polls.read(wanted)),
    });
    app.operations.add(listEvents({ ...pages, wait: (request) => polls.wait(request) }));
    const pruning = startPruning(pruneEvents, { storage, keptMs, log });
    app.addHook('preClose', async () => polls.stop());
    app.addHook('onClose', async () => {
      notifier.stop();
      await pruning.stop();
      await release();
    });
  },
);

import { provideSingleton } from '../../core/container.ts';
import { hoursMs, secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type {} from './contract.ts';
import { startEngine } from './engine/engine.ts';
import { Challenges } from './event-subscriptions/challenges.ts';
import { ControlMessages } from './event-subscriptions/control-messages.ts';
import { startEnding } from './event-subscriptions/ending.ts';
import { makeEventSubscriptions } from './event-subscriptions/event-subscriptions.ts';
import { makeGrantLane } from './event-subscriptions/grant-lane.ts';
import { makeWebhookOperations } from './make-operations.ts';
import { outgoingCalls } from './outgoing-calls.ts';
import { TestSlots } from './test-slots.ts';

/** Webhooks: subscriptions with their operations, and the delivery of events to them. */
export default gatewayPlugin(
  'webhooks',
  [
    ...['observability', 'storage', 'secrets', 'broker', 'cluster', 'tenants'],
    ...['audit', 'egress', 'media', 'events'],
  ],
  async (app) => {
    const { cradle } = app.container;
    const { broker, clock, cluster, cursors, egress, media, metrics, outbox, plans, secrets } =
      cradle;
    const { audit, channels, stopping, storage } = cradle;
    const { mcp, webhooks, roles, messages: kept } = cradle.config;
    const log = cradle.log.child({ plugin: 'webhooks' });
    const mint = (key: string): string => media.mint(key);
    const timeoutMs = secondsMs(webhooks.timeout_s);
    const connectTimeoutMs = secondsMs(webhooks.connect_timeout_s);
    const tests = new TestSlots({ concurrency: webhooks.concurrency, timeoutMs }, clock);
    const made = makeWebhookOperations({
      tests,
      ...{ broker, channels, clock, cursors, egress, plans, secrets, stopping, storage, log, mint },
      settings: {
        maxSubscriptions: webhooks.max_subscriptions,
        previousSecretMs: hoursMs(webhooks.previous_secret_h),
        timeoutMs,
        connectTimeoutMs,
      },
    });
    app.operations.add(...made.operations);
    app.operations.addOutgoing(...outgoingCalls);
    const engine = await startEngine({
      ...{ broker, clock, cluster, egress, metrics, outbox, plans, secrets, storage, log, mint },
      settings: {
        timeoutMs,
        connectTimeoutMs,
        retryDelaysMs: webhooks.retry_delays_s.map(secondsMs),
        eventRetryDelaysMs: mcp.event_retry_delays_s.map(secondsMs),
        pauseAfterFailures: webhooks.pause_after_failures,
        pauseAfterMs: secondsMs(webhooks.pause_after_s),
        concurrency: webhooks.concurrency,
        inFlight: webhooks.in_flight,
        logMs: hoursMs(webhooks.log_h),
        eventsMs: hoursMs(kept.events_h),
      },
      testsOpen: (receiverId) => tests.open(receiverId),
      delivers: roles.includes('webhooks'),
    });
    provideSingleton(app.container, 'directFanOut', () => engine.directFanOut);
    const messages = new ControlMessages(egress, storage);
    const mostPerKey = mcp.max_event_subscriptions;
    provideSingleton(app.container, 'eventSubscriptions', () =>
      makeEventSubscriptions({
        ...{ storage, secrets, egress, plans, audit, mostPerKey },
        grantLane: makeGrantLane(mostPerKey, secrets, log),
        challenges: new Challenges(messages),
      }),
    );
    const ending = roles.includes('webhooks')
      ? startEnding({ storage, secrets, messages, log })
      : null;
    app.addHook('onClose', async () => {
      await Promise.all([made.stop(), engine.stop(), ending?.stop()]);
    });
  },
);

import { provideSingleton } from '../../core/container.ts';
import type { Messages } from '../../core/contracts/messages.ts';
import { daysMs, hoursMs } from '../../core/durations.ts';
import { newId } from '../../core/ids.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import type { MintAddress } from '../../core/media-reference.ts';
import { PollNotifier } from '../../core/poll-notifier.ts';
import { Dispatchers } from './dispatch/dispatchers.ts';
import { makeExpire } from './dispatch/expire-lane.ts';
import { HostNotifier } from './dispatch/host-notifier.ts';
import { makeSessionSubmissions } from './dispatch/session-lane.ts';
import { forgetContact } from './forget-contact.ts';
import { MessageReporter } from './message-reporter.ts';
import { makeMessageMetrics, showQueues } from './metrics.ts';
import { getMessage } from './read/get-message.ts';
import { listConversations } from './read/list-conversations.ts';
import { type ListMessagesParts, listMessages } from './read/list-messages.ts';
import { makeImport } from './receive/import-lane.ts';
import { makeReceive } from './receive/receive-lane.ts';
import { makeAccept } from './send/accept-lane.ts';
import { sendingChannel } from './send/choose.ts';
import type { SendRules } from './send/input.ts';
import { sendMessage } from './send/send-message.ts';
import { makeSending } from './send/sending.ts';
import { messagesService } from './service.ts';
import { makeSessionListener } from './session-listener.ts';
import { startMessageUpkeep } from './upkeep.ts';
import { Handover } from './wait/handover.ts';
import { LanePollSlots } from './wait/poll-slots.ts';
import { makeSlotLanes } from './wait/slots.ts';
import { waitForMessages } from './wait/wait-for-messages.ts';
import { Waits } from './wait/waits.ts';

/** Messages: accepting, dispatching, receipts, receiving, reading and waiting. */
export default gatewayPlugin(
  'messages',
  [
    ...['observability', 'storage', 'broker', 'secrets', 'tenants', 'events'],
    ...['limits', 'media', 'accounts'],
  ],
  async (app) => {
    const { cradle } = app.container;
    const { accounts, authenticator, broker, channels, clock, config, cursors } = cradle;
    const { limits, media, metrics, outbox, sessions, storage } = cradle;
    const log = cradle.log.child({ plugin: 'messages' });
    const reporter = new MessageReporter(log, makeMessageMetrics(metrics, channels.channels()));
    showQueues(metrics, storage);
    const expireMs = hoursMs(config.messages.expire_h);
    const idempotencyMs = hoursMs(config.messages.idempotency_h);
    const dispatchers = new Dispatchers();
    const hosts = new HostNotifier(broker, dispatchers);
    const { openers, windowMs } = limits.rules.guards.openerBurst;
    const forget: Messages['forgetContact'] = async (unit, tenantId, contactId) => {
      await forgetContact(unit, tenantId, contactId, reporter);
      unit.afterCommit(() => media.sweep());
    };
    const answered = metrics.counter('gateway_waits_handed_over_total').of({});
    const handover = new Handover((tenantId) => waits.of(tenantId), answered);
    const rules: SendRules = {
      limits: limits.rules,
      idempotencyMs,
      channel: (channel, mode) => sendingChannel(channel, channels.driverOf(channel, mode)),
      newContactId: (at) => newId('con', at),
    };
    const accept = makeAccept(storage, {
      rules,
      findIdle: (accountId) => dispatchers.idle(accountId),
      reporter,
      notifyHosts: (accepted) => hosts.notify(accepted),
      restrict(accountId, until) {
        accounts.restrictForSafety(accountId, until).catch((error: unknown) => {
          log.warn({ err: error, account: accountId }, 'an account could not be restricted');
        });
      },
    });
    const waits = new Waits({
      read: storage.read,
      lanes: makeSlotLanes(storage, clock, { kind: 'messages', slots: config.limits.waits }),
      authenticator,
      processId: broker.processId,
      clock,
      log,
    });
    metrics.gauge('gateway_long_polls_open', () => [
      { labels: { kind: 'messages' }, value: waits.size },
    ]);
    const eventLanes = makeSlotLanes(storage, clock, {
      kind: 'events',
      slots: config.limits.event_polls,
    });
    const eventSlots = new LanePollSlots(eventLanes, broker.processId, log);
    provideSingleton(app.container, 'eventSlots', () => eventSlots);
    const waitNotifier = new PollNotifier(broker, waits, { topic: 'inbound', gapMs: 0 });
    const pace = { minMs: config.pacing.min_ms, maxMs: config.pacing.max_ms };
    const listener = makeSessionListener({
      ...makeSessionSubmissions(storage, { expireMs, outbox, reporter }),
      receive: makeReceive(storage, {
        ...{ forgetContact: forget, outbox, handover, reporter },
        notifyWaits: (tenantId) => waitNotifier.notify(tenantId),
      }),
      import: makeImport(storage, forget),
      ...{ storage, dispatchers, media, reporter, pace, log },
    });
    sessions.attach(listener);
    const release = await waitNotifier.listen();
    const upkeep = startMessageUpkeep({
      ...{ storage, expireMs, idempotencyMs, log },
      expire: makeExpire(storage, expireMs, reporter),
      keptMs: daysMs(config.messages.keep_days),
      sweepMedia: () => media.sweep(),
    });
    const { send, ask, checked } = makeSending({
      ...{ read: storage.read, clock, channels, rules, accept },
      allowHttp: config.webhooks.allow_http,
      maxText: config.messages.max_text,
    });
    const mint: MintAddress = (key) => media.mint(key);
    const lists: ListMessagesParts = {
      list: (tenantId, filter) => storage.read.messages.list(tenantId, filter),
      findContact: (tenantId, id) => storage.read.contacts.find(tenantId, id),
      mint,
      cursors,
    };
    provideSingleton(app.container, 'messages', () =>
      messagesService({
        ...{ read: storage.read, lists, send: checked, forgetContact: forget, mint, reporter },
        openersMs: openers === 0 ? 0 : windowMs,
        sweepMedia: () => media.sweep(),
      }),
    );
    app.operations.add(
      sendMessage({ maxText: config.messages.max_text, send, ask }),
      listMessages(lists),
      listConversations({ read: storage.read, mint, cursors }),
      waitForMessages({ wait: (request) => waits.wait(request), mint, cursors }),
      getMessage({ find: (tenantId, id) => storage.read.messages.find(tenantId, id), mint }),
    );
    app.addHook('preClose', async () => {
      waits.stop();
      eventSlots.stop();
    });
    app.addHook('onClose', async () => {
      hosts.stop();
      await upkeep.stop();
      await release();
    });
  },
);

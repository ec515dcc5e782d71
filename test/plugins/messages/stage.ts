import { setTimeout as pause } from 'node:timers/promises';
import type { Broker } from '../../../core/contracts/broker.ts';
import {
  type DriverCapabilities,
  DriverError,
  type MessageEvent,
  type OutboundMessage,
  type Sent,
} from '../../../core/contracts/driver.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import { PollNotifier } from '../../../core/poll-notifier.ts';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import type {
  AccountReason,
  AccountState,
  ConnectOptions,
  LiveSession,
  SessionListener,
} from '../../../plugins/accounts/contract.ts';
import { MemoryHub } from '../../../plugins/broker/hub.ts';
import type { Outbox } from '../../../plugins/events/contract.ts';
import type { PlanCaps } from '../../../plugins/limits/contract.ts';
import { guardSettings, makeLimitRules } from '../../../plugins/limits/rules.ts';
import { inTurn } from '../../../plugins/media/ahead/in-turn.ts';
import { Dispatchers } from '../../../plugins/messages/dispatch/dispatchers.ts';
import { makeExpire } from '../../../plugins/messages/dispatch/expire-lane.ts';
import { HostNotifier } from '../../../plugins/messages/dispatch/host-notifier.ts';
import type { SendOutcome } from '../../../plugins/messages/dispatch/outcome.ts';
import { type PaceSettings, unpaced } from '../../../plugins/messages/dispatch/pace.ts';
import type { NextSend } from '../../../plugins/messages/dispatch/session-input.ts';
import {
  makeSessionSubmissions,
  type SessionSubmissions,
} from '../../../plugins/messages/dispatch/session-lane.ts';
import {
  forgetContact as forget,
  forgetSome as forgetRest,
} from '../../../plugins/messages/forget-contact.ts';
import { MessageReporter } from '../../../plugins/messages/message-reporter.ts';
import { makeMessageMetrics } from '../../../plugins/messages/metrics.ts';
import { makeImport } from '../../../plugins/messages/receive/import-lane.ts';
import { makeReceive } from '../../../plugins/messages/receive/receive-lane.ts';
import { makeAccept } from '../../../plugins/messages/send/accept-lane.ts';
import type { SendDecision, SendInput } from '../../../plugins/messages/send/input.ts';
import {
  makeSessionListener,
  type SessionListenerParts,
} from '../../../plugins/messages/session-listener.ts';
import { Handover } from '../../../plugins/messages/wait/handover.ts';
import { makeSlotLanes, type SlotLanes } from '../../../plugins/messages/wait/slots.ts';
import { Waits } from '../../../plugins/messages/wait/waits.ts';
import { PrometheusMetrics } from '../../../plugins/observability/metrics.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { log, makeProcess, migratedStorage, run } from '../../fixtures/process.ts';
import type { Teardown } from '../../harness/processes.ts';
import { type Unreliability, unreliableBroker } from '../../harness/unreliable-broker.ts';

/** Processes that can hear each other have brokers on one hub. */
export const hub = (): MemoryHub => new MemoryHub();

/** Settings of a stage that differ from generous ones. */
export interface StageOptions {
  readonly hub?: MemoryHub;
  readonly plan?: Partial<PlanCaps>;
  readonly loopMessages?: number;
  readonly openers?: number;
  /** Refused openers that restrict an account; 10 when absent. */
  readonly refusals?: number;
  readonly expireMs?: number;
  readonly isCurrent?: (keyId: string) => boolean;
  readonly unreliable?: Unreliability;
  /** Sessions of this process hear of its messages through the broker, as those of others do. */
  readonly viaBroker?: boolean;
  /** In place of one that hands over: waits of this process read what it has received, as those of others do. */
  readonly handover?: Pick<Handover, 'find'>;
  /** Takes the events of messages; they wait when absent. */
  readonly outbox?: Pick<Outbox, 'prepare'>;
  /** Pauses between messages; none when absent. */
  readonly pace?: PaceSettings;
  /** Takes the media of inbound messages; none when absent. */
  readonly media?: SessionListenerParts['media'];
}

/** Submissions to the lanes of messages; a test may put another in place of one. */
export interface StageLanes extends SessionSubmissions {
  accept: ReturnType<typeof makeAccept>;
  receive: ReturnType<typeof makeReceive>;
  import: ReturnType<typeof makeImport>;
  expire: ReturnType<typeof makeExpire>;
}

/** What one process has of the messages plugin, on a real database. */
export interface Stage {
  readonly storage: OpenStorage;
  readonly broker: Broker;
  readonly lanes: StageLanes;
  readonly slotLanes: SlotLanes;
  readonly part: SessionListener;
  readonly waits: Waits;
  /** How many waits were handed their answer instead of reading it. */
  handedOver(): number;
  /** More waits of the same process, on other lanes. The caller stops them. */
  waitsOn(lanes: SlotLanes): Waits;
  /** Accounts that were to be restricted for safety. */
  readonly restricted: string[];
  /** Whether the account's session has nothing to send. */
  idle(accountId: string): boolean;
  /** Sends a text; the account may be left open. */
  send(send: Partial<SendInput> & Pick<SendInput, 'tenantId'>): Promise<SendDecision>;
  /** Stores the intent to send a message; answers what is handed over then. */
  dispatch(session: LiveSession, id: string): Promise<NextSend | null | undefined>;
  /** Stores what became of a message. */
  settle(session: LiveSession, outcome: SendOutcome): Promise<void>;
  /** Runs something in a transaction of its own. */
  run<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result>;
  /** The process was heard of just now. */
  beat(): Promise<void>;
}

/** Events wait, to be found. */
const waitingEvents: Pick<Outbox, 'prepare'> = {
  prepare: async () => (unit, events) => unit.withCommit.events.record(events),
};

const noMedia = { take: async () => null, discard: async () => undefined };

const reporter = new MessageReporter(log, makeMessageMetrics(new PrometheusMetrics(), []));

const step = { deduplicates: true, closedToStrangers: null };

/** Opens the messages of one more process on a database. */
export async function openStage(
  t: Teardown,
  url: string,
  options: StageOptions = {},
): Promise<Stage> {
  const storage = await migratedStorage(t, url);
  const { broker: reliable, clock } = makeProcess(t, storage, { hub: options.hub });
  const broker =
    options.unreliable === undefined ? reliable : unreliableBroker(reliable, options.unreliable);
  const dispatchers = new Dispatchers();
  const accepting = options.viaBroker === true ? new Dispatchers() : dispatchers;
  const restricted: string[] = [];
  const plan = { sends_cap: 1e6, new_contacts_cap: 1e6, ramp_days: 0, ...options.plan };
  const rules = makeLimitRules(
    guardSettings({
      loop_guard: { messages: options.loopMessages ?? 0, window_s: 60 },
      opener_burst: { openers: options.openers ?? 0, window_s: 60 },
      safety: { refusals: options.refusals ?? 10, window_s: 600, hold_s: 3600 },
    }),
    () => plan,
  );
  const hosts = new HostNotifier(broker, accepting);
  let handedOver = 0;
  const direct = new Handover((tenantId) => waits.of(tenantId), {
    add: (by = 1) => {
      handedOver += by;
    },
  });
  const { expireMs = 86_400_000, outbox = waitingEvents } = options;
  const accept = makeAccept(storage, {
    findIdle: (accountId) => accepting.idle(accountId),
    notifyHosts: (accepted) => hosts.notify(accepted),
    reporter,
    rules: {
      limits: rules,
      idempotencyMs: 86_400_000,
      channel: (channel) => ({
        recipients: channel === 'chatapp' ? 'contacts' : channel === 'irc' ? 'address' : 'phone',
        maxText: null,
        address: 'a nickname',
      }),
      newContactId: (at) => newId('con', at),
    },
    restrict: (accountId) => restricted.push(accountId),
  });
  const lanes: StageLanes = {
    accept,
    ...makeSessionSubmissions(storage, { expireMs, outbox, reporter }),
    receive: makeReceive(storage, {
      ...{ forgetContact, outbox, reporter },
      handover: options.handover ?? direct,
      notifyWaits: (tenantId) => notifier.notify(tenantId),
    }),
    import: makeImport(storage, forgetContact),
    expire: makeExpire(storage, expireMs, reporter),
  };
  const slotLanes = makeSlotLanes(storage, clock, { kind: 'messages', slots: 2 });
  const waitsOn = (using: SlotLanes): Waits =>
    new Waits({
      read: storage.read,
      lanes: using,
      authenticator: { isCurrent: async (keyId) => options.isCurrent?.(keyId) ?? true },
      processId: broker.processId,
      clock,
      log,
    });
  const waits = waitsOn(slotLanes);
  const notifier = new PollNotifier(broker, waits, { topic: 'inbound', gapMs: 0 });
  await notifier.listen();
  t.teardown(async () => waits.stop());
  return {
    storage,
    broker,
    lanes,
    slotLanes,
    waits,
    waitsOn,
    handedOver: () => handedOver,
    restricted,
    part: makeSessionListener({
      ...{ storage, dispatchers, reporter, log },
      dispatch: (...step) => lanes.dispatch(...step),
      receipts: (...receipts) => lanes.receipts(...receipts),
      receive: (input) => lanes.receive(input),
      import: (input) => lanes.import(input),
      media: options.media ?? noMedia,
      pace: options.pace ?? unpaced,
    }),
    idle: (accountId) => dispatchers.idle(accountId) !== null,
    send: (send) =>
      accept({
        id: newId('msg'),
        accountId: null,
        accountIds: null,
        isStranger: false,
        contactId: null,
        phone: send.contactId == null && send.addresses == null ? '+12025550123' : null,
        addresses: null,
        addressFaults: new Map(),
        text: 'Hello',
        media: null,
        trace: null,
        idempotency: null,
        ...send,
      }),
    async dispatch(session, id) {
      const [message] = await storage.read.messages.byIds([id]);
      const next = [{ id, contactId: message?.contactId ?? '', unanswered: null }];
      const output = await lanes.dispatch(session, () => ({ ...step, outcomes: [], next }));
      return output.held ? output.next[0] : undefined;
    },
    async settle(session, outcome) {
      await lanes.dispatch(session, () => ({ ...step, outcomes: [outcome], next: [] }));
    },
    run: (work) => run(storage, work),
    beat: () =>
      run(storage, async (unit) => {
        await unit.processes.beat([
          {
            id: broker.processId,
            name: 'stage',
            roles: ['api'],
            sessions: 0,
            capacity: 1,
            seenAt: unit.now,
          },
        ]);
      }),
  };
}

/** The id of an accepted message. @throws when it was refused */
export function acceptedId(decision: SendDecision): string {
  if ('refused' in decision) throw decision.refused;
  return decision.accepted.id;
}

/** `accepted`, or the code of the refusal. */
export function codeOf(decision: SendDecision): string {
  return 'refused' in decision ? decision.refused.code : 'accepted';
}

export const noOptions: ConnectOptions = {
  method: 'qr',
  importContacts: false,
  importHistory: false,
  pauseAutomation: false,
  markPrivate: false,
};

/** Goes on with it. */
export function forgetSome(unit: Unit, tenantId: string, contactId: string): Promise<boolean> {
  return forgetRest(unit, tenantId, contactId, reporter);
}

/** Begins to forget a contact that is made private, as the plugin does. */
export function forgetContact(unit: Unit, tenantId: string, contactId: string): Promise<void> {
  return forget(unit, tenantId, contactId, reporter);
}

const connected: AccountState = {
  ...unconnected,
  status: 'connected',
  linked: true,
  announced: true,
  everConnected: true,
};

/** Makes a tenant with connected accounts, whose leases the stage's process holds. */
export async function makeTenant(
  stage: Stage,
  accounts = 1,
  channel = 'msgapp_web',
): Promise<{ readonly tenantId: string; readonly accountIds: readonly string[] }> {
  const tenantId = newId('ten');
  const accountIds = Array.from({ length: accounts }, () => newId('acc'));
  await stage.run(async (unit) => {
    const facts = { name: 'T', mode: 'test', plan: 'p', status: 'active' } as const;
    await unit.tenants.insert([
      { id: tenantId, ...facts, disabled: [], ramp: false, createdAt: unit.now },
    ]);
    await unit.accounts.insert(
      accountIds.map((id) => ({
        id,
        tenantId,
        channel,
        identifier: id,
        connectOptions: noOptions,
        state: connected,
        createdAt: unit.now,
      })),
    );
    await unit.leases.take(accountIds, stage.broker.processId, unit.now + 9_000, 9_000);
  });
  return { tenantId, accountIds };
}

/** A live session as a test plays it: `answer` says what the network does with a message. */
export class FakeSession implements LiveSession {
  readonly account;
  fence;
  capabilities: DriverCapabilities = {
    deduplicates: true,
    receipts: 'read',
    recipients: 'phone',
    linkMethods: ['qr'],
    imports: { contacts: true, history: true },
    media: true,
  };
  connectOptions = noOptions;
  restriction: null | 'all' | 'new_contacts' = null;
  restrictionReason: AccountReason | null = null;
  restrictedUntil: number | null = null;
  typing: LiveSession['typing'] = null;
  connected = true;
  mediaAhead: LiveSession['mediaAhead'] = inTurn;
  /** Every message that was handed over, in order. */
  readonly handed: OutboundMessage[] = [];
  /** What the network took: each reference once. */
  readonly taken: string[] = [];
  answer: (message: OutboundMessage) => Promise<Sent> = async (message) => this.take(message);
  readonly #over = new AbortController();

  constructor(tenantId: string, accountId: string, owner: string, number = 1) {
    this.account = { id: accountId, tenantId, channel: 'msgapp_web', identifier: accountId };
    this.fence = { id: accountId, owner, number };
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get connection(): AbortSignal {
    return this.#over.signal;
  }

  mayAct(): boolean {
    return !this.signal.aborted;
  }

  send(message: OutboundMessage): Promise<Sent> {
    if (!this.connected) {
      const error = new DriverError('not_connected', 'gone', { certain: true, retryAfterMs: 0 });
      return Promise.reject(error);
    }
    this.handed.push(message);
    return new Promise((resolve, reject) => {
      const error = new DriverError('session_closed', 'closed', { certain: false });
      const onAbort = (): void => reject(error);
      this.signal.addEventListener('abort', onAbort, { once: true });
      this.answer(message)
        .then(resolve, reject)
        .finally(() => this.signal.removeEventListener('abort', onAbort));
    });
  }

  /** The network takes a message. */
  take(message: OutboundMessage): Sent {
    if (!this.taken.includes(message.reference)) this.taken.push(message.reference);
    return { networkId: `net-${message.reference}`, at: Date.now() };
  }

  /** The process stops, or loses the lease. */
  end(): void {
    this.connected = false;
    this.#over.abort();
  }
}

/** Registers a session with a stage and connects it. */
export async function startSession(
  t: Teardown,
  stage: Stage,
  session: FakeSession,
): Promise<FakeSession> {
  const release = await stage.broker.host(session.account.id, (message: Json) =>
    stage.part.wake(session.account.id, message),
  );
  stage.part.opened(session);
  stage.part.ready(session);
  t.teardown(async () => {
    session.end();
    await stage.part.closed(session);
    await release();
  });
  return session;
}

/** An inbound message. */
export function inbound(networkId: string, text = networkId, phone = '+12025550123'): MessageEvent {
  const from = { phone, networkId: null, name: 'Ada' };
  return { type: 'message', networkId, from, text, media: null, at: Date.now() };
}

/** Asks until the answer is there. */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined | null | false> | Answer | undefined | null | false,
  timeoutMs = 30_000,
): Promise<Answer> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await pause(10);
  }
}

import { chunks } from '../../core/chunks.ts';
import type { ReceiptEvent } from '../../core/contracts/driver.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import type { ConnectOptions, LiveSession, SessionListener } from '../accounts/contract.ts';
import type { MediaService } from '../media/contract.ts';
import { abandonQueued } from './dispatch/abandon.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import type { Dispatchers } from './dispatch/dispatchers.ts';
import { positionsOf } from './dispatch/envelope.ts';
import { outboundMessage } from './dispatch/outbound-message.ts';
import type { PaceSettings } from './dispatch/pace.ts';
import type { SessionSubmissions } from './dispatch/session-lane.ts';
import type { MessageReporter } from './message-reporter.ts';
import { Arrivals } from './receive/arrivals.ts';
import { type ImportInput, type ImportOutput, importSize } from './receive/import-lane.ts';
import type { ReceiveInput, ReceiveOutput } from './receive/input.ts';
import { receiveTraced } from './receive/receive-span.ts';

/** How many accounts one statement of the sweep names. */
const sweepSize = 500;

/** How long a receipt with an id that is not stored yet waits for the answer of the send under way. */
const answerWaitMs = 5_000;

/** Dependencies of the messages' listener. */
export interface SessionListenerParts extends SessionSubmissions {
  readonly storage: Storage;
  receive(input: ReceiveInput): Promise<ReceiveOutput>;
  import(input: ImportInput): Promise<ImportOutput>;
  /** The dispatchers of this process; the listener adds one for each session. */
  readonly dispatchers: Dispatchers;
  readonly media: Pick<MediaService, 'take' | 'discard'>;
  readonly reporter: Pick<MessageReporter, 'report'>;
  /** Between two messages of an account whose driver wants pauses. */
  readonly pace: PaceSettings;
  readonly log: GatewayLog;
}

/** Makes the listener by which messages take part in sessions; see `SessionListener` for who calls what. */
export function makeSessionListener(parts: SessionListenerParts): SessionListener {
  const { storage, dispatchers, log } = parts;
  const arrivals = new Arrivals({ read: storage.read, media: parts.media });
  const bySession = new WeakMap<LiveSession, Dispatcher>();
  storage.onCommit('merged', () => dispatchers.merged());
  const dispatcherOf = (session: LiveSession): Dispatcher => {
    const existing = bySession.get(session);
    if (existing !== undefined) return existing;
    const dispatcher = new Dispatcher(session, {
      ...{ read: storage.read, step: parts.dispatch, pace: parts.pace, log },
      announce: (to, contactId) => void showTyping(storage, to, contactId),
    });
    bySession.set(session, dispatcher);
    dispatchers.add(session, dispatcher);
    return dispatcher;
  };
  return {
    opened(session) {
      dispatcherOf(session);
    },
    ready(session) {
      dispatcherOf(session).ready();
    },
    storeAnswers: (session) => dispatcherOf(session).storeAnswers(),
    async closed(session) {
      const dispatcher = dispatcherOf(session);
      dispatchers.remove(session);
      await dispatcher.closed();
    },
    wake(accountId, envelope) {
      dispatchers.get(accountId)?.wake(positionsOf(envelope, accountId));
    },
    sweep() {
      sweep(storage, dispatchers).catch((error: unknown) => {
        log.warn({ err: error }, 'the sweep for queued messages failed');
      });
    },
    async receive(session, event) {
      switch (event.type) {
        case 'message':
          return receiveTraced(session, (trace) =>
            arrivals.settle(session, event, async (ready) =>
              ensureHeld(await parts.receive({ ...receiver(session), ...ready, trace })),
            ),
          );
        case 'receipts':
          return receipts(parts, session, dispatcherOf(session), event.receipts);
        case 'identity': {
          const input = importInput(session, { contacts: [event] });
          ensureHeld(await parts.import({ ...input, takesContacts: false, isPresent: true }));
          return;
        }
        case 'address':
          ensureHeld(await parts.import({ ...importInput(session, {}), moved: event }));
          return;
        case 'contacts': {
          const { connectOptions } = session;
          const options = event.later === true ? notImported(connectOptions) : connectOptions;
          for (const contacts of chunks(event.contacts, importSize)) {
            ensureHeld(await parts.import({ ...importInput(session, { contacts }), options }));
          }
          return;
        }
        case 'history':
          for (const history of chunks(event.messages, importSize)) {
            ensureHeld(await parts.import(importInput(session, { history })));
          }
      }
    },
    async sentMessage(session, reference) {
      const { tenantId, id } = session.account;
      const message = await storage.read.messages.find(tenantId, reference);
      if (message?.accountId !== id || message.direction !== 'outbound') return null;
      const contact = await storage.read.contacts.find(tenantId, message.contactId);
      return contact === null || contact.private ? null : outboundMessage(message, contact);
    },
    abandon: (unit, accountId, reason) => abandonQueued(unit, accountId, reason, parts.reporter),
  };
}

/** Shows a contact that its next message is coming, where the network can. Never rejects. */
async function showTyping(
  { read }: Storage,
  { typing, account }: LiveSession,
  contactId: string,
): Promise<void> {
  if (typing === null) return;
  const contact = await read.contacts.find(account.tenantId, contactId).catch(() => null);
  if (contact === null || contact.private || contact.doNotDisturb) return;
  typing({ phone: contact.phone, networkId: contact.networkId });
}

/** Wakes the dispatchers of those accounts that have queued messages. */
async function sweep(storage: Storage, dispatchers: Dispatchers): Promise<void> {
  for (const part of chunks(dispatchers.accountIds(), sweepSize)) {
    for (const id of await storage.read.queuedMessages.accountsWithQueued(part)) {
      dispatchers.get(id)?.poll();
    }
  }
}

/**
 * Enters receipts in their order. A receipt may come before the answer of its send: with the message's reference it is
 * stored at once, with only the id that the answer will bring it waits for the answers under way and of repeats that are
 * to follow soon, and is dropped when none of them names it.
 * @throws Error when an answer takes too long
 */
async function receipts(
  parts: SessionSubmissions,
  session: LiveSession,
  dispatcher: Dispatcher,
  all: readonly ReceiptEvent[],
): Promise<void> {
  const underWay = dispatcher.outcomesUnderWay();
  const unknown = ensureHeld(await parts.receipts(session, all));
  if (unknown.length === 0 || underWay === null) return;
  const late = new Error('the send that these receipts may belong to is not answered yet');
  await withTimeout(answerWaitMs, late, underWay);
  ensureHeld(await parts.receipts(session, unknown));
}

function receiver({ account, fence }: LiveSession) {
  return { fence, tenantId: account.tenantId, channel: account.channel };
}

function importInput(
  session: LiveSession,
  part: Partial<Pick<ImportInput, 'contacts' | 'history'>>,
): ImportInput {
  return {
    ...receiver(session),
    options: session.connectOptions,
    // Where only contacts can be messaged, an account without its contacts could reach nobody.
    takesContacts:
      session.connectOptions.importContacts || session.capabilities.recipients === 'contacts',
    isPresent: false,
    moved: null,
    contacts: part.contacts ?? [],
    history: part.history ?? [],
  };
}

/** The options without the flags of imported contacts. */
function notImported(options: ConnectOptions): ConnectOptions {
  return { ...options, markPrivate: false, pauseAutomation: false };
}

/** @throws Error when the session has lost its account: what the session reports is not acknowledged, and comes again */
function ensureHeld<Output>(output: Output): Exclude<Output, 'lost'> {
  if (output === 'lost') throw new Error('this session has lost its account');
  return output as Exclude<Output, 'lost'>;
}

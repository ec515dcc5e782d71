import type { Messages } from '../../../core/contracts/messages.ts';
import type { Lane, Storage, Tables } from '../../../core/contracts/storage.ts';
import { grouped } from '../../../core/grouped.ts';
import { newId } from '../../../core/ids.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Contact, ContactKey } from '../../contacts/contract.ts';
import type { Outbox, StoreEvents } from '../../events/contract.ts';
import type { KeptMedia, TakenMedia } from '../../media/contract.ts';
import { messageEvent } from '../events.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { storedNetworkId } from '../network-ids.ts';
import { type MessageWithContact, newMessage, type StoredMessage } from '../tables/message-rows.ts';
import { networkKey } from '../tables/messages.ts';
import { type ThreadKey, threadKey } from '../tables/threads.ts';
import type { Handover } from '../wait/handover.ts';
import { whoseTurn } from './arrival-line.ts';
import { ContactResolver, contactKey } from './contact-resolver.ts';
import type { ReceiveInput, ReceiveOutput } from './input.ts';
import { describedMedia, storedMedia } from './media.ts';

/**
 * The lane of inbound messages: contact, thread, message, number and event in one transaction under the tenant's lock,
 * so that their numbering is the order of their commits. A network id is stored once, and the file of its media is kept
 * with it. Messages of one session are stored in the order of its reports, whatever batches they meet in. The sender's
 * addresses are brought up to date (see `ContactResolver`) also where the message is ignored.
 */
function makeReceiveLane({
  forgetContact,
  outbox,
  handover,
  notifyWaits,
  reporter,
}: ReceiveParts): Lane<ReceiveInput, ReceiveOutput, ReceivePrefetch> {
  return {
    name: 'messages.receive',
    locks: ({ tenantId, fence }) => [`tenant:${tenantId}`, `lease:${fence.id}`],
    prefetch: (tables, inputs) => prefetch(tables, inputs, outbox),
    async run(unit, inputs, prefetched) {
      const { held, seen, files } = prefetched;
      const people = new ContactResolver(unit.now, prefetched.contacts);
      const turn = whoseTurn(inputs);
      const senders = inputs.map((input): Contact | Exclude<ReceiveOutput, 'stored'> => {
        const { id: accountId } = input.fence;
        if (!held.has(input.fence)) return 'lost';
        if (!turn.has(input.event)) return 'early';
        const id = networkKey(accountId, storedNetworkId(input.event.networkId));
        const key = keyOf(input);
        const isRepeated = seen.has(id);
        if (key === null || people.recognise(key, !isRepeated)?.private === true) return 'ignored';
        if (isRepeated) return 'ignored';
        seen.add(id);
        return people.meet(key, input.event.from.name);
      });
      const kept: KeptMedia[] = [];
      const threads = new Map<string, ThreadKey>();
      const drafts: StoredMessage[] = [];
      const outputs = inputs.map((input, n): ReceiveOutput => {
        const sender = senders[n] ?? 'ignored';
        if (typeof sender === 'string') return sender;
        // A later one of the batch may have shown who it is.
        const contact = people.byId(sender.id);
        if (contact.private) return 'ignored';
        const { id: accountId } = input.fence;
        threads.set(threadKey(accountId, contact.id), { accountId, contactId: contact.id });
        // A file that was swept meanwhile is as one that could not be fetched.
        const file = input.taken !== null && files.has(input.taken.key) ? input.taken : null;
        const draft = draftOf(input, file, contact.id, unit.now);
        drafts.push(draft);
        if (file !== null) kept.push({ ...file, messageId: draft.id, contactId: contact.id });
        return 'stored';
      });
      await people.store(unit, forgetContact);
      // At once, not only when the batch is answered: the next one may be decided before.
      unit.afterCommit(() => {
        for (const { line, event } of inputs) if (turn.has(event)) line.leave(event);
      });
      if (drafts.length === 0) return outputs;
      const { withCommit } = unit;
      const messages = numbered(drafts, prefetched.sequences);
      await withCommit.threads.wroteFirst([...threads.values()], unit.now);
      await withCommit.messages.insert(messages);
      await reporter.report(unit, messages);
      const latest = new Map(messages.map((one) => [one.tenantId, one.inboundSequence ?? 0]));
      await withCommit.tenants.setInboundSequences(latest);
      await withCommit.media.keep(kept);
      const events = messages.map((one) => ({
        ...messageEvent(one, people.byId(one.contactId), 'received', unit.now),
        first: true,
      }));
      await prefetched.storeEvents(unit, events);
      const withContacts = messages.map((one) => withContact(one, people.byId(one.contactId)));
      for (const [tenantId, ofTenant] of grouped(withContacts, (one) => one.tenantId)) {
        const handed = handover.find(tenantId, prefetched.sequences.get(tenantId) ?? 0, ofTenant);
        await withCommit.waits.keep(handed.slots);
        unit.afterCommit(() => {
          handed.answer();
          notifyWaits(tenantId);
        });
      }
      return outputs;
    },
  };
}

/** Makes the submission to the lane of inbound messages, once for each storage. */
export function makeReceive(
  storage: Storage,
  parts: ReceiveParts,
): (input: ReceiveInput) => Promise<ReceiveOutput> {
  const lane = makeReceiveLane(parts);
  return (input) => storage.submit(lane, input);
}

/** Dependencies of the receive lane. */
export interface ReceiveParts {
  /** Forgets contacts that turn out to be one person with a private one. */
  readonly forgetContact: Messages['forgetContact'];
  /** Takes the events of received messages. */
  readonly outbox: Pick<Outbox, 'prepare'>;
  readonly handover: Pick<Handover, 'find'>;
  /** Notifies the waits of all processes that a tenant received something. */
  notifyWaits(tenantId: string): void;
  readonly reporter: Pick<MessageReporter, 'report'>;
}

/** What a batch is decided on. */
interface ReceivePrefetch {
  /** The leases that are valid. */
  readonly held: ReadonlySet<LeaseToken>;
  /** The keys of the network ids that are stored. */
  readonly seen: Set<string>;
  readonly contacts: readonly Contact[];
  /** The latest number of each tenant. */
  readonly sequences: ReadonlyMap<string, number>;
  /** The files that wait for their message. */
  readonly files: ReadonlySet<string>;
  /** Stores the events with their deliveries. */
  readonly storeEvents: StoreEvents;
}

async function prefetch(
  tables: Tables,
  inputs: readonly ReceiveInput[],
  outbox: Pick<Outbox, 'prepare'>,
): Promise<ReceivePrefetch> {
  const tenantIds = [...new Set(inputs.map((input) => input.tenantId))];
  const [held, stored, contacts, sequences, files, storeEvents] = await Promise.all([
    tables.leases.rows.heldBy(inputs.map((input) => input.fence)),
    tables.messages.byNetworkIds('inbound', inputs.map(networkReference)),
    tables.contacts.byKeys(inputs.flatMap((input) => keyOf(input) ?? [])),
    tables.tenants.inboundSequences(tenantIds),
    tables.media.waitingForChange(inputs.flatMap((input) => input.taken?.key ?? [])),
    outbox.prepare(tables, tenantIds),
  ]);
  const seen = new Set(stored.map((one) => networkKey(one.accountId, one.networkId)));
  return { held, seen, contacts, sequences, files, storeEvents };
}

/** Gives each message the next number of its tenant. */
function numbered(
  drafts: readonly StoredMessage[],
  sequences: ReadonlyMap<string, number>,
): readonly StoredMessage[] {
  const latest = new Map(sequences);
  return drafts.map((draft) => {
    const last = latest.get(draft.tenantId);
    if (last === undefined) throw new Error(`the tenant ${draft.tenantId} is gone`);
    latest.set(draft.tenantId, last + 1);
    return { ...draft, inboundSequence: last + 1 };
  });
}

/** As a read would find it. */
function withContact(message: StoredMessage, { id, phone, name }: Contact): MessageWithContact {
  return { ...message, contact: { id, phone, name } };
}

function networkReference({ fence, event }: ReceiveInput) {
  return { accountId: fence.id, networkId: storedNetworkId(event.networkId) };
}

function keyOf({ tenantId, channel, event }: ReceiveInput): ContactKey | null {
  return contactKey(tenantId, channel, event.from);
}

function draftOf(
  input: ReceiveInput,
  file: TakenMedia | null,
  contactId: string,
  now: number,
): StoredMessage {
  const { tenantId, channel, fence, event } = input;
  return {
    id: newId('msg'),
    tenantId,
    accountId: fence.id,
    channel,
    contactId,
    direction: 'inbound',
    text: event.text,
    media: file === null ? describedMedia(event.media) : storedMedia(file),
    status: 'received',
    createdAt: now,
    ...newMessage,
    networkId: storedNetworkId(event.networkId),
    trace: input.trace,
  };
}

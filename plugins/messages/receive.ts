import type { Broker } from '../../core/contracts/broker.ts';
import type { InboundMedia, MessageEvent } from '../../core/contracts/driver.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import { mediaReference } from '../../core/media-reference.ts';
import type { Fence } from '../accounts/contract.ts';
import type { ContactKey } from '../contacts/contract.ts';
import type { KeptMedia, TakenMedia } from '../media/contract.ts';
import type { EventRecord, Media, StoredMessage, Thread } from './contract.ts';
import { messageEvent } from './events.ts';
import { storedNetworkId } from './network-ids.ts';
import { contactKey, People } from './people.ts';
import { threadPlace } from './send.ts';

/** The account whose session reports something. */
export interface Receiver {
  readonly fence: Fence;
  readonly tenantId: string;
  readonly channel: string;
}

/** One inbound message of one session. */
export interface ReceiveInput extends Receiver {
  readonly event: MessageEvent;
  /** Its media, when the bytes were taken into the media store. */
  readonly taken: TakenMedia | null;
}

/**
 * `ignored`: stored before, or from somebody who is private or cannot be named. `lost`: the session does not
 * hold its lease any more.
 */
export type ReceiveOutput = 'stored' | 'ignored' | 'lost';

/** The topic on which every process hears that a tenant received something. */
export const inboundTopic = 'inbound';

/**
 * The lane of inbound messages: contact, thread, message, number and event in one transaction under the tenant's
 * lock, so that their numbering is the order of their commits. A network id is stored once, and the file of its
 * media is kept with it.
 */
export function makeReceiveLane(broker: Broker): Lane<ReceiveInput, ReceiveOutput> {
  return {
    name: 'messages.receive',
    locks: ({ tenantId, fence }) => [`tenant:${tenantId}`, `lease:${fence.accountId}`],
    async run(unit, inputs) {
      const held = await unit.leases.heldBy(inputs.map((input) => input.fence));
      const standing = inputs.filter((input) => held.has(input.fence.accountId));
      const stored = await unit.messages.byNetworkIds('inbound', standing.map(networkReference));
      const seen = new Set(stored.map((one) => `${one.accountId} ${one.networkId}`));
      const people = await People.load(
        unit,
        standing.flatMap((input) => keyOf(input) ?? []),
      );
      const threads = await unit.threads.byKeys(
        standing.flatMap((input) => {
          const key = keyOf(input);
          const contactId = key === null ? undefined : people.known(key)?.id;
          return contactId === undefined ? [] : [{ accountId: input.fence.accountId, contactId }];
        }),
      );
      const threadAt = new Map(
        threads.map((thread) => [threadPlace(thread.accountId, thread.contactId), thread]),
      );
      const waiting = await unit.media.waitingForChange(
        standing.flatMap((input) => input.taken?.key ?? []),
      );
      const kept: KeptMedia[] = [];
      const newThreads = new Map<string, Thread>();
      const drafts: StoredMessage[] = [];
      const outputs = inputs.map((input): ReceiveOutput => {
        const { accountId } = input.fence;
        if (!held.has(accountId)) return 'lost';
        const { networkId } = networkReference(input);
        const key = keyOf(input);
        if (seen.has(`${accountId} ${networkId}`) || key === null) return 'ignored';
        if (people.known(key)?.private === true) return 'ignored';
        const contact = people.meet(key, input.event.from.name);
        seen.add(`${accountId} ${networkId}`);
        const place = threadPlace(accountId, contact.id);
        const thread = threadAt.get(place);
        if (thread === undefined || thread.inboundAt === null) {
          const openedAt = thread?.openedAt ?? null;
          const begun = { accountId, contactId: contact.id, openedAt, inboundAt: unit.now };
          threadAt.set(place, begun);
          newThreads.set(place, begun);
        }
        // A file that was swept meanwhile is as one that could not be fetched.
        const file = input.taken !== null && waiting.has(input.taken.key) ? input.taken : null;
        const draft = draftOf(input, file, contact.id, unit.now);
        drafts.push(draft);
        if (file !== null) kept.push({ ...file, messageId: draft.id });
        return 'stored';
      });
      if (drafts.length === 0) return outputs;
      const counts = new Map<string, number>();
      for (const { tenantId } of drafts) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
      const next = new Map(await unit.tenants.takeInboundSequences(counts));
      const events: EventRecord[] = [];
      const messages = drafts.map((draft): StoredMessage => {
        const inboundSequence = next.get(draft.tenantId);
        if (inboundSequence === undefined) throw new Error(`the tenant ${draft.tenantId} is gone`);
        next.set(draft.tenantId, inboundSequence + 1);
        const message = { ...draft, inboundSequence };
        const contact = people.byId(draft.contactId);
        events.push(messageEvent(message, contact, 'received', unit.now));
        return message;
      });
      await people.store(unit);
      await unit.threads.save([...newThreads.values()]);
      await unit.messages.insert(messages);
      await unit.media.keep(kept);
      await unit.events.record(events);
      for (const tenantId of counts.keys()) {
        unit.afterCommit(() => broker.toAll(inboundTopic, { tenantId }));
      }
      return outputs;
    },
  };
}

function networkReference({ fence, event }: ReceiveInput) {
  return { accountId: fence.accountId, networkId: storedNetworkId(event.networkId) };
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
    accountId: fence.accountId,
    channel,
    contactId,
    direction: 'inbound',
    text: event.text,
    media: file === null ? describedMedia(event.media) : storedMedia(file),
    status: 'received',
    error: null,
    networkId: storedNetworkId(event.networkId),
    sequence: null,
    inboundSequence: null,
    opener: false,
    dispatchedAt: null,
    attempts: 0,
    dispatchFence: null,
    createdAt: now,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
  };
}

/** What is known of media whose bytes are not kept, in the words of the API. */
export function describedMedia(media: InboundMedia | null): Media | null {
  if (media === null) return null;
  const { kind, mimeType, fileName, size } = media;
  return { kind, url: null, mime_type: mimeType, file_name: fileName, size };
}

function storedMedia({ key, kind, mimeType, fileName, size }: TakenMedia): Media {
  return { kind, url: mediaReference(key), mime_type: mimeType, file_name: fileName, size };
}

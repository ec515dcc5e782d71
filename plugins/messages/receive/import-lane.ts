import type {
  AddressEvent,
  DriverContact,
  HistoryMessage,
} from '../../../core/contracts/driver.ts';
import type { Messages } from '../../../core/contracts/messages.ts';
import type { Lane, Storage, Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import type { ConnectOptions } from '../../accounts/contract.ts';
import type { ContactKey } from '../../contacts/contract.ts';
import { storedNetworkId } from '../network-ids.ts';
import { newMessage, type StoredMessage } from '../tables/message-rows.ts';
import { type Thread, threadKey } from '../tables/threads.ts';
import { ContactResolver, contactKey } from './contact-resolver.ts';
import type { ReceivingAccount } from './input.ts';
import { describedMedia } from './media.ts';
import type { ContactFlags } from './merge.ts';

/** A part of an account's address book or of its past. */
export interface ImportInput extends ReceivingAccount {
  readonly options: ConnectOptions;
  /** Whether contacts that are not stored yet are made, too. */
  readonly takesContacts: boolean;
  /** Whether the contacts are as the network knows them now, so that a number may have changed hands. */
  readonly isPresent: boolean;
  /** A contact whose address has changed. */
  readonly moved: AddressEvent | null;
  readonly contacts: readonly DriverContact[];
  readonly history: readonly HistoryMessage[];
}

/** `lost`: the session has lost its lease. */
export type ImportOutput = 'stored' | 'lost';

/** The most contacts or messages of one input. */
export const importSize = 200;

/**
 * The lane of imports: contacts with the flags that the connect operation asked for, messages with their original
 * time, without event and without a number. Of what is there already only addresses and names are brought up to date; the
 * private are left out. Contacts that turn out to be one person become one.
 */
function makeImportLane(forget: Messages['forgetContact']): Lane<ImportInput, ImportOutput> {
  return {
    name: 'messages.import',
    maxBatch: 4,
    locks: ({ tenantId, fence }) => [`tenant:${tenantId}`, `lease:${fence.id}`],
    async run(unit, inputs) {
      const held = await unit.leases.rows.heldBy(inputs.map((input) => input.fence));
      const valid = inputs.filter((input) => held.has(input.fence));
      const people = new ContactResolver(
        unit.now,
        await unit.contacts.byKeys(valid.flatMap(keysOf)),
      );
      const drafts: StoredMessage[] = [];
      for (const input of valid) {
        const [former, present] = moveOf(input);
        if (former !== undefined && present !== undefined) people.move(former, present);
        importContacts(input, people);
        if (input.options.importHistory) drafts.push(...importHistory(input, people, unit.now));
      }
      await people.store(unit, forget);
      // A later one of the batch may have shown who it is.
      const messages = drafts.flatMap((draft) => {
        const contact = people.byId(draft.contactId);
        return contact.private ? [] : { ...draft, contactId: contact.id };
      });
      const unknown = await onlyNew(messages, (direction, references) =>
        unit.messages.byNetworkIds(direction, references),
      );
      const fresh = await withoutOwn(unit, unknown);
      await unit.threads.save(
        threadsOf(
          fresh,
          await unit.threads.byKeys(
            fresh.map(({ accountId, contactId }) => ({ accountId, contactId })),
          ),
        ),
      );
      await unit.messages.insertNew(fresh);
      return inputs.map((input) => (held.has(input.fence) ? 'stored' : 'lost'));
    },
  };
}

/** Makes the submission to the lane of imports, once for each storage. */
export function makeImport(
  storage: Storage,
  forget: Messages['forgetContact'],
): (input: ImportInput) => Promise<ImportOutput> {
  const lane = makeImportLane(forget);
  return (input) => storage.submit(lane, input);
}

/** The address that a contact had, and the one that it has now. */
function moveOf({ tenantId, channel, moved }: ImportInput): ContactKey[] {
  if (moved === null) return [];
  return [moved.formerly, moved.networkId].flatMap(
    (networkId) => contactKey(tenantId, channel, { phone: null, networkId, name: null }) ?? [],
  );
}

function keysOf(input: ImportInput): ContactKey[] {
  const contacts = [...input.contacts, ...input.history.map((message) => message.contact)];
  const named = contacts.map((one) => contactKey(input.tenantId, input.channel, one));
  return [...named, ...moveOf(input)].flatMap((key) => key ?? []);
}

function importContacts(
  { tenantId, channel, options, takesContacts, isPresent, contacts }: ImportInput,
  people: ContactResolver,
): void {
  const flags = flagsOf(options);
  for (const contact of contacts) {
    const key = contactKey(tenantId, channel, contact);
    if (key === null) continue;
    const stored = people.recognise(key, isPresent);
    if (stored?.private === true) continue;
    if (takesContacts) people.meet(key, contact.name, flags);
    // Contacts that are there for another reason are completed.
    else if (stored !== undefined) people.follow(stored, contact.name);
  }
}

function flagsOf({ markPrivate, pauseAutomation }: ConnectOptions): ContactFlags {
  return { doNotDisturb: false, private: markPrivate, automationPaused: pauseAutomation };
}

function importHistory(input: ImportInput, people: ContactResolver, now: number): StoredMessage[] {
  const { tenantId, channel, options, fence } = input;
  const flags = flagsOf(options);
  return input.history.flatMap((message) => {
    const key = contactKey(tenantId, channel, message.contact);
    if (key === null || people.recognise(key, false)?.private === true) return [];
    const contact = people.meet(key, message.contact.name, flags);
    if (contact.private) return [];
    const at = Math.max(0, Math.min(now, Math.round(message.at)));
    const outbound = message.direction === 'outbound';
    return [
      {
        id: newId('msg'),
        tenantId,
        accountId: fence.id,
        channel,
        contactId: contact.id,
        direction: message.direction,
        text: message.text,
        media: describedMedia(message.media),
        status: outbound ? 'sent' : 'received',
        createdAt: at,
        ...newMessage,
        networkId: storedNetworkId(message.networkId),
        sentAt: outbound ? at : null,
      } satisfies StoredMessage,
    ];
  });
}

/** Leaves out what is stored already, or comes twice in the same import. */
async function onlyNew(
  messages: readonly StoredMessage[],
  find: (
    direction: StoredMessage['direction'],
    references: readonly { readonly accountId: string; readonly networkId: string }[],
  ) => Promise<readonly { readonly accountId: string; readonly networkId: string }[]>,
): Promise<readonly StoredMessage[]> {
  const seen = new Set<string>();
  for (const direction of ['inbound', 'outbound'] as const) {
    const references = messages
      .filter((message) => message.direction === direction)
      .map(({ accountId, networkId }) => ({ accountId, networkId: networkId ?? '' }));
    for (const one of await find(direction, references)) {
      seen.add(`${one.accountId} ${direction} ${one.networkId}`);
    }
  }
  return messages.filter((message) => {
    const key = `${message.accountId} ${message.direction} ${message.networkId}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Leaves out what the gateway sends itself under its own id, and has no answer to yet. */
async function withoutOwn(
  unit: Unit,
  messages: readonly StoredMessage[],
): Promise<readonly StoredMessage[]> {
  const networkIds = messages.flatMap(({ direction, networkId }) =>
    direction === 'outbound' && networkId?.startsWith('msg_') ? [networkId] : [],
  );
  if (networkIds.length === 0) return messages;
  const own = new Set((await unit.messages.byIds(networkIds)).map(({ id }) => id));
  return messages.filter(({ networkId }) => networkId === null || !own.has(networkId));
}

/** A contact that wrote, or was written to, before the account was connected is no stranger to it. */
function threadsOf(messages: readonly StoredMessage[], stored: readonly Thread[]): Thread[] {
  const threads = new Map(
    stored.map((thread) => [threadKey(thread.accountId, thread.contactId), thread]),
  );
  const changed = new Map<string, Thread>();
  for (const { accountId, contactId, direction, createdAt } of messages) {
    const key = threadKey(accountId, contactId);
    const thread = threads.get(key) ?? { accountId, contactId, openedAt: null, inboundAt: null };
    const inboundAt =
      direction === 'inbound'
        ? Math.min(thread.inboundAt ?? createdAt, createdAt)
        : thread.inboundAt;
    const next = { ...thread, inboundAt };
    threads.set(key, next);
    changed.set(key, next);
  }
  return [...changed.values()];
}

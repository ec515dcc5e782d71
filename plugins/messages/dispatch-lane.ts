import type { OutboundMessage } from '../../core/contracts/driver.ts';
import type { Lane, Unit } from '../../core/contracts/storage.ts';
import type { AccountReason, Fence } from '../accounts/contract.ts';
import type { Contact } from '../contacts/contract.ts';
import type { EventRecord, StoredMessage } from './contract.ts';
import { decideDispatch, enterOutcome, type Outcome, outboundMessage } from './dispatch-rules.ts';
import { messageEvent } from './events.ts';
import type { Step } from './moves.ts';
import { threadPlace } from './send.ts';

/** One step of a session's dispatching: what became of the last message, and which one is to follow. */
export interface DispatchInput {
  readonly fence: Fence;
  readonly outcome: Outcome | null;
  readonly next: { readonly id: string; readonly again: boolean } | null;
  readonly deduplicates: boolean;
  readonly closedToStrangers: AccountReason | null;
}

/** The answer to one step. */
export type DispatchOutput =
  | { readonly held: false }
  /** `message` may be handed over now; null when `next` does not go out. */
  | { readonly held: true; readonly message: OutboundMessage | null };

/**
 * The lane that moves queued messages on: the outcome of one message and the intent to send the next are one
 * transaction. Intent before action: only what this lane has stored as dispatched is handed to a driver.
 */
export function makeDispatchLane(expireMs: number): Lane<DispatchInput, DispatchOutput> {
  return {
    name: 'messages.dispatch',
    locks: ({ fence }) => [`lease:${fence.accountId}`],
    async run(unit, inputs) {
      const held = await unit.leases.heldBy(inputs.map((input) => input.fence));
      const standing = inputs.filter((input) => held.has(input.fence.accountId));
      const messages = await loadMessages(unit, standing);
      const contacts = await loadContacts(unit, [...messages.values()]);
      const strangers = await loadStrangers(unit, standing, messages);
      const changed = new Map<string, StoredMessage>();
      const events: EventRecord[] = [];
      const enter = ({ message, raised }: Step, contact: Contact, silent = false): void => {
        messages.set(message.id, message);
        changed.set(message.id, message);
        for (const one of silent ? [] : raised) {
          events.push(messageEvent(one.message, contact, one.status, unit.now));
        }
      };
      const outputs = inputs.map((input): DispatchOutput => {
        const { fence, outcome, next } = input;
        if (!held.has(fence.accountId)) return { held: false };
        const last = ownMessage(messages, fence, outcome?.id);
        const lastContact = contacts.get(last?.contactId ?? '');
        if (last !== undefined && lastContact !== undefined && outcome !== null) {
          const step = enterOutcome(last, outcome, fence.number, unit.now);
          if (step !== null) enter(step, lastContact);
        }
        const message = ownMessage(messages, fence, next?.id);
        const contact = contacts.get(message?.contactId ?? '');
        if (message === undefined || contact === undefined) return { held: true, message: null };
        const dispatch = decideDispatch(message, contact, {
          now: unit.now,
          fence: fence.number,
          deduplicates: input.deduplicates,
          again: next?.again ?? false,
          closedToStrangers: input.closedToStrangers,
          stranger: strangers.has(threadPlace(fence.accountId, contact.id)),
          expireMs,
        });
        if (dispatch === null) return { held: true, message: null };
        if ('end' in dispatch) {
          enter(dispatch.end, contact, dispatch.silent);
          return { held: true, message: null };
        }
        enter({ message: dispatch.go, raised: [] }, contact);
        return { held: true, message: outboundMessage(dispatch.go, contact) };
      });
      await unit.messages.save([...changed.values()]);
      await unit.events.record(events);
      return outputs;
    },
  };
}

function ownMessage(
  messages: ReadonlyMap<string, StoredMessage>,
  fence: Fence,
  id: string | undefined,
): StoredMessage | undefined {
  const message = messages.get(id ?? '');
  return message?.accountId === fence.accountId ? message : undefined;
}

async function loadMessages(
  unit: Unit,
  inputs: readonly DispatchInput[],
): Promise<Map<string, StoredMessage>> {
  const ids = inputs.flatMap(({ outcome, next }) => [outcome?.id ?? [], next?.id ?? []].flat());
  const rows = await unit.messages.forChange(ids);
  return new Map(rows.map((row) => [row.id, row]));
}

async function loadContacts(
  unit: Unit,
  messages: readonly StoredMessage[],
): Promise<ReadonlyMap<string, Contact>> {
  const contacts = await unit.contacts.byIds(messages.map((message) => message.contactId));
  return new Map(contacts.map((contact) => [contact.id, contact]));
}

/**
 * Which contacts never wrote to the account and were never reached by it. Asked only for accounts that the
 * network keeps from strangers, which are few.
 */
async function loadStrangers(
  unit: Unit,
  inputs: readonly DispatchInput[],
  messages: ReadonlyMap<string, StoredMessage>,
): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  for (const { fence, next, closedToStrangers } of inputs) {
    const message = messages.get(next?.id ?? '');
    if (closedToStrangers === null || message === undefined) continue;
    const key = { accountId: fence.accountId, contactId: message.contactId };
    const [thread] = await unit.threads.byKeys([key]);
    const opened = thread !== undefined && thread.inboundAt === null && thread.openedAt !== null;
    if (!opened) continue;
    const reached = await unit.messages.reached(key.accountId, [key.contactId]);
    if (reached.length === 0) strangers.add(threadPlace(key.accountId, key.contactId));
  }
  return strangers;
}

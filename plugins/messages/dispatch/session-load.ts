import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import type { Outbox } from '../../events/contract.ts';
import { storedNetworkId } from '../network-ids.ts';
import { networkKey } from '../tables/messages.ts';
import { threadKey } from '../tables/threads.ts';
import { SessionBatch, type SessionPrefetch } from './session-batch.ts';
import type { SessionInput } from './session-input.ts';

/** Reads what sessions name, with their messages locked. */
export async function loadSession(
  tables: Tables,
  inputs: readonly SessionInput[],
  outbox: Pick<Outbox, 'prepare'>,
): Promise<SessionPrefetch> {
  const ids = inputs.flatMap(({ step, receipts }) => [
    ...(step?.().outcomes ?? []).map(({ id }) => id),
    ...(step?.().next ?? []).map(({ id }) => id),
    ...receipts.flatMap(({ reference }) => reference ?? []),
  ]);
  const expectsEvents = inputs.some(
    ({ step, receipts }) => receipts.length > 0 || (step?.().outcomes.length ?? 0) > 0,
  );
  const [held, messages, contacts, named, storeEvents] = await Promise.all([
    tables.leases.rows.heldBy(inputs.map(({ fence }) => fence)),
    tables.messages.forChange(ids),
    tables.contacts.ofMessages(ids),
    loadNamed(tables, inputs, ({ reference }) => reference === null),
    expectsEvents ? outbox.prepare(tables, tenantIdsOf(inputs)) : null,
  ]);
  return { held, messages, contacts, named, storeEvents };
}

/**
 * Makes the batch, with what receipts name by id beside what was prefetched.
 * @param inputs those whose session has a valid lease
 */
export async function loadSessionBatch(
  unit: Unit,
  inputs: readonly SessionInput[],
  prefetched: SessionPrefetch,
): Promise<SessionBatch> {
  const loaded = new Set(prefetched.messages.map(({ id }) => id));
  const rest = await loadNamed(
    unit,
    inputs,
    ({ reference }) => reference !== null && !loaded.has(reference),
  );
  const named = new Map([...prefetched.named, ...rest]);
  const ids = [...named.values()].filter((id) => !loaded.has(id));
  const [messages, contacts] = await Promise.all([
    unit.messages.forChange(ids),
    unit.contacts.ofMessages(ids),
  ]);
  return new SessionBatch(unit.now, {
    ...prefetched,
    messages: [...prefetched.messages, ...messages],
    contacts: [...prefetched.contacts, ...contacts],
    named,
  });
}

/**
 * Which contacts never wrote to the account and were never reached by it. Asked only for accounts that the
 * network keeps from strangers, which are few.
 */
export async function findStrangers(
  unit: Unit,
  inputs: readonly SessionInput[],
  batch: SessionBatch,
): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  const nexts = inputs.flatMap(({ fence, step }) => {
    const { closedToStrangers = null, next = [] } = step?.() ?? {};
    return closedToStrangers === null ? [] : next.map(({ id }) => ({ accountId: fence.id, id }));
  });
  for (const { accountId, id } of nexts) {
    const contactId = batch.find(accountId, id)?.contact.id;
    if (contactId === undefined) continue;
    const [thread] = await unit.threads.byKeys([{ accountId, contactId }]);
    const opened = thread !== undefined && thread.inboundAt === null && thread.openedAt !== null;
    if (!opened) continue;
    const reached = await unit.contactMessages.reached(accountId, [contactId]);
    if (reached.length === 0) strangers.add(threadKey(accountId, contactId));
  }
  return strangers;
}

/**
 * Messages queued before the next ones to the same contacts, by the ids of those: they may be in the conversation of a
 * contact that has become one with it. Asked only for contacts that were merged, which are few.
 */
export async function findEarlier(
  unit: Unit,
  inputs: readonly SessionInput[],
  batch: SessionBatch,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const earlier = new Map<string, readonly string[]>();
  for (const { fence, step } of inputs) {
    const { outcomes = [], next = [] } = step?.() ?? {};
    for (const { id } of next) {
      const found = batch.find(fence.id, id);
      if (found?.contact.wasMerged !== true || found.message.sequence === null) continue;
      const { contactId, sequence } = found.message;
      // Those with an outcome may be over by the time the next one is decided on.
      const most = outcomes.length + 1;
      earlier.set(id, await unit.queuedMessages.idsBefore(fence.id, contactId, sequence, most));
    }
  }
  return earlier;
}

/** The tenants whose sessions ask. */
export function tenantIdsOf(inputs: readonly SessionInput[]): readonly string[] {
  return [...new Set(inputs.map(({ tenantId }) => tenantId))];
}

/** Finds out which messages some receipts name by the network's id. */
async function loadNamed(
  tables: Tables,
  inputs: readonly SessionInput[],
  isMeant: (receipt: SessionInput['receipts'][number]) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const references = inputs.flatMap(({ fence: { id: accountId }, receipts }) =>
    receipts.filter(isMeant).flatMap(({ networkId }) => {
      return networkId === null ? [] : [{ accountId, networkId: storedNetworkId(networkId) }];
    }),
  );
  const found = await tables.messages.byNetworkIds('outbound', references);
  return new Map(found.map((one) => [networkKey(one.accountId, one.networkId), one.id]));
}

import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import { storedNetworkId } from '../network-ids.ts';
import type { EventOutbox } from '../outbox.ts';
import { networkPlace, SessionBatch, type SessionFacts } from './session-batch.ts';
import type { SessionInput } from './session-input.ts';

/** Reads what sessions name, with their messages locked. */
export async function loadSession(
  tables: Tables,
  inputs: readonly SessionInput[],
  outbox: EventOutbox,
): Promise<SessionFacts> {
  const ids = inputs.flatMap(({ step, receipts }) => [
    ...[step?.outcome?.id ?? [], step?.next?.id ?? []].flat(),
    ...receipts.flatMap(({ reference }) => reference ?? []),
  ]);
  const expectsEvents = inputs.some(
    ({ step, receipts }) => receipts.length > 0 || (step?.outcome ?? null) !== null,
  );
  const [held, messages, contacts, named, fanOut] = await Promise.all([
    tables.leases.heldBy(inputs.map(({ fence }) => fence)),
    tables.messages.forChange(ids),
    tables.contacts.ofMessages(ids),
    loadNamed(tables, inputs, ({ reference }) => reference === null),
    expectsEvents ? outbox.prepare(tables, tenantIdsOf(inputs)) : null,
  ]);
  return { held, messages, contacts, named, fanOut };
}

/**
 * Makes the batch of a batch.
 * @param inputs those whose session holds its lease
 */
export async function loadSessionBatch(
  unit: Unit,
  inputs: readonly SessionInput[],
  facts: SessionFacts,
): Promise<SessionBatch> {
  const known = new Set(facts.messages.map(({ id }) => id));
  const rest = await loadNamed(
    unit,
    inputs,
    ({ reference }) => reference !== null && !known.has(reference),
  );
  const named = new Map([...facts.named, ...rest]);
  const ids = [...named.values()].filter((id) => !known.has(id));
  const [messages, contacts] = await Promise.all([
    unit.messages.forChange(ids),
    unit.contacts.ofMessages(ids),
  ]);
  return new SessionBatch(unit.now, {
    ...facts,
    messages: [...facts.messages, ...messages],
    contacts: [...facts.contacts, ...contacts],
    named,
  });
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
  const references = inputs.flatMap(({ fence: { accountId }, receipts }) =>
    receipts.filter(isMeant).flatMap(({ networkId }) => {
      return networkId === null ? [] : [{ accountId, networkId: storedNetworkId(networkId) }];
    }),
  );
  const found = await tables.messages.byNetworkIds('outbound', references);
  return new Map(found.map((one) => [networkPlace(one.accountId, one.networkId), one.id]));
}

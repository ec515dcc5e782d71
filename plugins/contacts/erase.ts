import type { Messages } from '../../core/contracts/messages.ts';
import type { Lane, Storage, Unit } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import type { Erasure } from '../erasure/contract.ts';
import type { Contact } from './contract.ts';

/** One erasure of a contact, by its id or, until it is submitted, by an alias. */
export type EraseInput = Pick<Erasure, 'id' | 'tenantId'>;

/**
 * The lane that begins to erase contacts: under the tenant's lock, so that nothing of the person is accepted or received
 * meanwhile. From then on no operation knows the contact. What is left is a row without an address, so that the messages
 * which were to be sent can say why they failed. Answers what has begun, null when the tenant has no such contact.
 */
export function makeEraseLane(
  messages: Pick<Messages, 'beginErasing'>,
): Lane<EraseInput, Erasure | null> {
  return {
    name: 'contacts.erase',
    // Each reads the queues of its contact's accounts.
    maxBatch: 1,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    run: oneByOne(async (unit, { tenantId, id }) => {
      const contact = await unit.contacts.find(tenantId, id);
      return contact === null ? null : await beginErasure(unit, contact, messages);
    }),
    // Run again it would find no such contact. An alias is not found here either: see `submitErasure`.
    async recover(unit, { tenantId, id }) {
      if (!(await unit.contacts.isErased(tenantId, id))) return undefined;
      // Without its row nothing is left, of which the steps convince themselves.
      const ended = { id, tenantId, contactId: null, address: null };
      return (await unit.erasures.find(id)) ?? ended;
    },
  };
}

/** Submits an erasure under the contact's own id: an alias is gone with the commit, the row with that id stays. */
export async function submitErasure(
  storage: Pick<Storage, 'read' | 'submit'>,
  lane: ReturnType<typeof makeEraseLane>,
  { tenantId, id }: EraseInput,
): Promise<Erasure | null> {
  const contact = await storage.read.contacts.find(tenantId, id);
  return await storage.submit(lane, { tenantId, id: contact?.id ?? id });
}

async function beginErasure(
  unit: Unit,
  { id, tenantId, channel, phone, networkId }: Contact,
  messages: Pick<Messages, 'beginErasing'>,
): Promise<Erasure> {
  await messages.beginErasing(unit, tenantId, id);
  await unit.contactAliases.deleteOf(id);
  await unit.contacts.erase(id);
  const address = { channel, phone, networkId, erasedAt: unit.now };
  const erasure = { id, tenantId, contactId: null, address };
  await unit.erasures.begin(erasure, unit.now);
  return erasure;
}

/** The lane that deletes some of what is left of an erased contact; answers whether there is more. */
export function makeEraseSomeLane(messages: Pick<Messages, 'eraseSome'>): Lane<Erasure, boolean> {
  return {
    name: 'contacts.erase-some',
    maxBatch: 1,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    run: oneByOne((unit, { tenantId, id }) => messages.eraseSome(unit, tenantId, id)),
  };
}

/** The lane that deletes the openers to an erased contact, which count no more. */
export const forgetOpenersLane: Lane<Erasure, boolean> = {
  name: 'contacts.forget-openers',
  locks: () => [],
  run: oneByOne(async (unit, { contactId }) => {
    if (contactId !== null) await unit.threads.deleteOfContacts([contactId]);
    return false;
  }),
};

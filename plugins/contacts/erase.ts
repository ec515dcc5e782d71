import type { Messages } from '../../core/contracts/messages.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import type { Erasure } from '../erasure/contract.ts';

/** One erasure of a contact, by its id or an alias. */
export type EraseInput = Erasure;

/**
 * The lane that begins to erase contacts: under the tenant's lock, so that nothing of the person is accepted or received
 * meanwhile. From then on no operation knows the contact. What is left is a row without an address, so that the messages
 * which were to be sent can say why they failed. Answers the contact's own id, null when the tenant has none.
 */
export function makeEraseLane(
  messages: Pick<Messages, 'beginErasing'>,
): Lane<EraseInput, string | null> {
  return {
    name: 'contacts.erase',
    maxBatch: 8,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const erased: (string | null)[] = [];
      for (const { tenantId, id } of inputs) {
        const contact = await unit.contacts.find(tenantId, id);
        if (contact !== null) {
          await messages.beginErasing(unit, tenantId, contact.id);
          await unit.contactAliases.deleteOf(contact.id);
          await unit.contacts.erase(contact.id);
          await unit.erasures.begin({ id: contact.id, tenantId }, unit.now);
        }
        erased.push(contact?.id ?? null);
      }
      return erased;
    },
  };
}

/** The lane that deletes some of what is left of an erased contact; answers whether there is more. */
export function makeEraseSomeLane(messages: Pick<Messages, 'eraseSome'>): Lane<Erasure, boolean> {
  return {
    name: 'contacts.erase-some',
    maxBatch: 1,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const isMore: boolean[] = [];
      for (const { tenantId, id } of inputs) {
        isMore.push(await messages.eraseSome(unit, tenantId, id));
      }
      return isMore;
    },
  };
}

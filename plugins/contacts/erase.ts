import type { Messages } from '../../core/contracts/messages.ts';
import type { Lane } from '../../core/contracts/storage.ts';

/** One erasure. */
export interface EraseInput {
  readonly tenantId: string;
  readonly id: string;
}

/**
 * The lane that erases contacts: under the tenant's lock, so that nothing of the person is accepted or received
 * meanwhile. What is left is a row without an address, so that the messages which were to be sent can say why they
 * failed. Answers the contact's own id, null when the tenant has none with this id or alias.
 */
export function makeEraseLane(
  messages: Pick<Messages, 'eraseContact'>,
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
          await messages.eraseContact(unit, tenantId, contact.id);
          await unit.contactAliases.deleteOf(contact.id);
          await unit.contacts.erase(contact.id);
        }
        erased.push(contact?.id ?? null);
      }
      return erased;
    },
  };
}

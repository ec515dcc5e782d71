import { nameKeys } from '../../core/contact-names.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import type { Contact, ContactKey } from './contract.ts';

/** A contact to make: by its phone or its address on the network. */
export interface CreateContactInput extends ContactKey {
  /** Empty where none was given. */
  readonly name: string;
}

/** The contact, and whether it has just been made. */
export interface CreatedContact {
  readonly contact: Contact;
  readonly isNew: boolean;
}

/**
 * The lane that makes contacts which nobody has written with: under the tenant's lock, so that of twins one is made. One
 * that is there stays as it is. Null: the tenant was deleted.
 */
export const createContactLane: Lane<CreateContactInput, CreatedContact | null> = {
  name: 'contacts.create',
  maxBatch: 32,
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  async run(unit, inputs) {
    const present = await unit.tenants.present(inputs.map(({ tenantId }) => tenantId));
    const stored = await unit.contacts.byKeys(inputs);
    const known = new Map(stored.flatMap((one) => nameKeys(one).map((name) => [name, one])));
    const added: Contact[] = [];
    const outputs = inputs.map(({ name, ...key }): CreatedContact | null => {
      if (!present.has(key.tenantId)) return null;
      const [wanted = ''] = nameKeys(key);
      const found = known.get(wanted);
      if (found !== undefined) return { contact: found, isNew: false };
      const contact = newContact(key, name, unit.now);
      known.set(wanted, contact);
      added.push(contact);
      return { contact, isNew: true };
    });
    await unit.withCommit.contacts.insert(added);
    return outputs;
  },
};

function newContact(key: ContactKey, name: string, now: number): Contact {
  return {
    ...key,
    id: newId('con', now),
    name,
    nameSet: name !== '',
    doNotDisturb: false,
    private: false,
    automationPaused: false,
    uncounted: true,
    createdAt: now,
  };
}

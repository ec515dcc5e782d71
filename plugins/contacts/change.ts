import type { Messages } from '../../core/contracts/messages.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import type { Contact } from './contract.ts';

/** The changeable fields of a contact; an absent one stays. */
export type ContactChanges = Partial<
  Pick<Contact, 'name' | 'nameSet' | 'doNotDisturb' | 'private' | 'automationPaused'>
>;

/** How messages go of contacts that are made private. */
export type ForgettingMessages = Pick<Messages, 'forgetContact' | 'forgetSome'>;

/** One change. */
export interface ContactChangeInput {
  readonly tenantId: string;
  readonly id: string;
  readonly changes: ContactChanges;
}

/**
 * The lane of changes to contacts: under the tenant's lock, so that no message of a contact that becomes private is
 * accepted or received meanwhile. Answers the contact as it is then, null when the tenant has none with this id or alias,
 * and `forgetting`, with nothing changed, for one that is to be private no more while messages of before are left.
 */
export function makeContactChangeLane(
  messages: ForgettingMessages,
): Lane<ContactChangeInput, Contact | null | 'forgetting'> {
  return {
    name: 'contacts.change',
    maxBatch: 8,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const aliases = await unit.contactAliases.of(inputs.map((input) => input.id));
      const idOf = (named: string): string => aliases.get(named) ?? named;
      const rows = await unit.contacts.byIds(inputs.map((input) => idOf(input.id)));
      const contacts = new Map(rows.map((row) => [row.id, row]));
      const changed = new Map<string, Contact>();
      const outputs: (Contact | null | 'forgetting')[] = [];
      for (const { tenantId, id: named, changes } of inputs) {
        const id = idOf(named);
        const before = contacts.get(id);
        if (before?.tenantId !== tenantId) {
          outputs.push(null);
          continue;
        }
        const isShown = before.private && changes.private === false;
        if (isShown && (await messages.forgetSome(unit, tenantId, id))) {
          outputs.push('forgetting');
          continue;
        }
        const after = { ...before, ...changes };
        if (after.private && !before.private) await messages.forgetContact(unit, tenantId, id);
        contacts.set(id, after);
        changed.set(id, after);
        outputs.push(after);
      }
      await unit.contacts.save([...changed.values()]);
      return outputs;
    },
  };
}

import { provideSingleton } from '../../core/container.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { makeContactChangeLane } from './change.ts';
import type { Contact } from './contract.ts';
import { makeEraseLane } from './erase.ts';
import { contactOperations, contactPage, contactView } from './operations.ts';
import type { ContactFilter } from './tables/contacts.ts';

/** Contacts: their flags and their four operations. They are made by messages and imports. */
export default gatewayPlugin('contacts', ['storage', 'secrets', 'messages'], async (app) => {
  const { cursors, messages, storage } = app.container.cradle;
  const change = makeContactChangeLane(messages);
  const erase = makeEraseLane(messages);
  const known = async (
    contacts: readonly Contact[],
    accountIds: NonNullable<Caller['accountIds']>,
  ) => {
    const threads = await storage.read.threads.ofContacts(contacts.map(({ id }) => id));
    const ids = new Set(
      threads.filter((one) => accountIds.has(one.accountId)).map((one) => one.contactId),
    );
    return contacts.filter(({ id }) => ids.has(id));
  };
  const list = (tenantId: string, filter: ContactFilter) =>
    storage.read.contacts.list(tenantId, filter);
  provideSingleton(app.container, 'contacts', () => ({
    list: (caller, query = {}) => contactPage({ list, known, cursors }, caller, query),
    async find({ tenantId, accountIds = null }, id) {
      const found = await storage.read.contacts.find(tenantId, id);
      if (found === null) return null;
      const isShown = accountIds === null || (await known([found], accountIds)).length > 0;
      return isShown ? contactView(found) : null;
    },
  }));
  app.operations.add(
    ...contactOperations({
      find: (tenantId, id) => storage.read.contacts.find(tenantId, id),
      known,
      list,
      change: (input) => storage.submit(change, input),
      erase: (input) => storage.submit(erase, input),
      cursors,
    }),
  );
});

import { provideSingleton } from '../../core/container.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { makeContactChangeLane } from './change.ts';
import type { Contact } from './contract.ts';
import { createContactLane } from './create.ts';
import { makeEraseLane } from './erase.ts';
import { contactOperations } from './operations.ts';
import { contactView } from './view.ts';

/** Contacts: their flags and their operations. They are made by messages, imports and requests. */
export default gatewayPlugin('contacts', ['storage', 'secrets', 'messages'], async (app) => {
  const { channels, cursors, messages, storage } = app.container.cradle;
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
  provideSingleton(app.container, 'contacts', () => ({
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
      list: (tenantId, filter) => storage.read.contacts.list(tenantId, filter),
      channels,
      create: (input) => storage.submit(createContactLane, input),
      change: (input) => storage.submit(change, input),
      erase: (input) => storage.submit(erase, input),
      cursors,
    }),
  );
});

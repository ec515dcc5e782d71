import { provideSingleton } from '../../core/container.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { makeContactChangeLane } from './change.ts';
import { makeEraseLane } from './erase.ts';
import { contactOperations, contactView } from './operations.ts';

/** Contacts: their flags and their four operations. They are made by messages and imports. */
export default gatewayPlugin('contacts', ['storage', 'secrets', 'messages'], async (app) => {
  const { cursors, messages, storage } = app.container.cradle;
  const change = makeContactChangeLane(messages);
  const erase = makeEraseLane(messages);
  provideSingleton(app.container, 'contacts', () => ({
    async find({ tenantId }, id) {
      const found = await storage.read.contacts.find(tenantId, id);
      return found === null ? null : contactView(found);
    },
  }));
  app.operations.add(
    ...contactOperations({
      find: (tenantId, id) => storage.read.contacts.find(tenantId, id),
      list: (tenantId, filter) => storage.read.contacts.list(tenantId, filter),
      change: (input) => storage.submit(change, input),
      erase: (input) => storage.submit(erase, input),
      cursors,
    }),
  );
});

import { provideSingleton } from '../../core/container.ts';
import type { Contacts } from '../../core/contracts/contacts.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { withTimeout } from '../../core/waiting.ts';
import type {} from '../accounts/contract.ts';
import type {} from '../erasure/contract.ts';
import { changesOf } from './change-contact.ts';
import { ContactChanger } from './contact-changer.ts';
import { createContactLane } from './create.ts';
import { forgetOpenersLane, makeEraseLane, makeEraseSomeLane, submitErasure } from './erase.ts';
import { exportContact } from './export-contact.ts';
import { contactPage } from './list-contacts.ts';
import { contactOperations } from './operations.ts';
import type { KnownContacts } from './shown-contacts.ts';
import type { ContactFilter } from './tables/contact-lists.ts';
import { contactView } from './view.ts';

/** How long a call to erase a contact waits for its end, milliseconds: most are done in a moment. */
const eraseWaitMs = 5_000;

/** Contacts: their flags and their operations. They are made by messages, imports and requests. */
export default gatewayPlugin(
  'contacts',
  ['storage', 'secrets', 'erasure', 'media', 'accounts', 'messages'],
  async (app) => {
    const {
      accounts,
      authenticator,
      channels,
      cursors,
      erasures,
      media,
      messages,
      stopping,
      storage,
    } = app.container.cradle;
    const changer = new ContactChanger(storage, messages, stopping);
    const erase = makeEraseLane(messages);
    const eraseSome = makeEraseSomeLane(messages);
    erasures.add('con', (erasure) => storage.submit(eraseSome, erasure));
    // Behind the messages: what was under way with the person has left its keys by then.
    erasures.add('con', ({ tenantId, address }) =>
      address === null ? Promise.resolve(false) : accounts.forget(tenantId, address),
    );
    erasures.add('opn', (erasure) => storage.submit(forgetOpenersLane, erasure));
    erasures.add('fgt', ({ tenantId, contactId: id }) =>
      id === null ? Promise.resolve(false) : changer.forgetSome({ tenantId, id }),
    );
    const known: KnownContacts = async (contacts, accountIds) => {
      const ids = contacts.map(({ id }) => id);
      const known = await storage.read.threads.knownTo(ids, accountIds);
      return contacts.filter(({ id }) => known.has(id));
    };
    const list = (tenantId: string, filter: ContactFilter) =>
      storage.read.contacts.list(tenantId, filter);
    const find: Contacts['find'] = async ({ tenantId, accountIds = null }, id) => {
      const found = await storage.read.contacts.find(tenantId, id);
      if (found === null) return null;
      const isShown = accountIds === null || (await known([found], accountIds)).length > 0;
      return isShown ? contactView(found) : null;
    };
    provideSingleton(app.container, 'contacts', () => ({
      find,
      list: (caller, query = {}) => contactPage({ list, cursors, channels }, caller, query),
      async change(caller, id, fields) {
        const isLimited = (caller.accountIds ?? null) !== null;
        if (isLimited && (await find(caller, id)) === null) return null;
        const change = { tenantId: caller.tenantId, id, changes: changesOf(fields) };
        const contact = await changer.change(change);
        return contact && contactView(contact);
      },
    }));
    app.operations.add(
      ...contactOperations({
        find: (tenantId, id) => storage.read.contacts.find(tenantId, id),
        known,
        list,
        channels,
        create: (input) => storage.submit(createContactLane, input),
        change: (input) => changer.change(input),
        async erase(input) {
          const begun = await submitErasure(storage, erase, input);
          if (begun === null) return null;
          const finishing = erasures.finish(begun);
          const end = await withTimeout(eraseWaitMs, 'the erasure', finishing).then(
            () => 'erased' as const,
            () => 'erasing' as const,
          );
          return { id: begun.id, status: end };
        },
        cursors,
      }),
      exportContact({
        read: storage.read,
        mint: (key) => media.mint(key),
        authenticator,
        view: contactView,
        messages: (...of) => messages.pagesOf(...of),
      }),
    );
  },
);

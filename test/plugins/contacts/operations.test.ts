import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { Driver } from '../../../core/contracts/driver.ts';
import { newId } from '../../../core/ids.ts';
import type { AnyOperation } from '../../../core/operation.ts';
import { ContactChanger } from '../../../plugins/contacts/contact-changer.ts';
import { createContactLane } from '../../../plugins/contacts/create.ts';
import { contactOperations } from '../../../plugins/contacts/operations.ts';
import { makeCursors } from '../../../plugins/secrets/cursors.ts';
import { databases } from '../../harness/databases.ts';
import { forgetContact, forgetSome, makeTenant, openStage } from '../messages/stage.ts';

interface Shown {
  readonly id: string;
  readonly phone: string;
  readonly name: string;
  readonly do_not_disturb: boolean;
}

const capabilities = {
  deduplicates: true,
  receipts: 'read',
  linkMethods: ['qr'],
  imports: { contacts: true, history: true },
  media: true,
} as const;
const open = () => {
  throw new Error('nothing is opened here');
};
const phones: Driver = { capabilities: { ...capabilities, recipients: 'phone' }, open };
const drivers: Readonly<Record<string, Driver>> = {
  msgapp_web: phones,
  chatapp: phones,
  irc: {
    capabilities: { ...capabilities, recipients: 'address' },
    address: {
      description: 'a nickname',
      parse: (text) => (/^ *\w+ *$/.test(text) ? text.trim().toLowerCase() : null),
    },
    open,
  },
};

interface Page {
  readonly contacts: readonly Shown[];
  readonly next_cursor: string | null;
}

for (const engine of databases) {
  t.test(`the operations on contacts, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const messages = { forgetContact, forgetSome };
    const changer = new ContactChanger(storage, messages, new AbortController().signal);
    const operations = contactOperations({
      find: (tenantId, id) => storage.read.contacts.find(tenantId, id),
      known: async (contacts) => contacts,
      list: (tenantId, filter) => storage.read.contacts.list(tenantId, filter),
      change: (input) => changer.change(input),
      erase: async () => null,
      channels: {
        channels: () => [...Object.keys(drivers), 'xmpp'],
        driverOf: (name) => drivers[name] ?? null,
      },
      create: (input) => storage.submit(createContactLane, input),
      cursors: makeCursors([randomBytes(32)]),
    });
    const { tenantId } = await makeTenant(stage);
    const other = await makeTenant(stage);
    const call = async <Body>(
      id: string,
      parts: { params?: object; query?: object; body?: object },
      tenant = tenantId,
      accountIds: ReadonlySet<string> | null = null,
    ): Promise<Body> => {
      const operation = operations.find((one) => one.id === id) as AnyOperation;
      const answer = await operation.handler({
        caller: {
          tenantId: tenant,
          accountIds,
          mode: 'live',
          disabled: new Set(['chatapp']),
        } as unknown as Caller,
        params: (parts.params ?? {}) as never,
        query: (parts.query ?? {}) as never,
        body: (parts.body ?? {}) as never,
        headers: {},
        signal: new AbortController().signal,
        requestId: 'r',
        traceparent: null,
      });
      return answer.body as Body;
    };
    for (let n = 0; n < 7; n += 1) await stage.send({ tenantId, phone: `+1202555010${n}` });

    const seen: string[] = [];
    let before: string | undefined;
    for (let page = 0; page < 5; page += 1) {
      const answer: Page = await call('list_contacts', { query: { limit: 3, before } });
      seen.push(...answer.contacts.map((contact) => contact.phone));
      await stage.send({ tenantId, phone: `+1202555020${page}` });
      if (answer.next_cursor === null) break;
      before = answer.next_cursor;
    }
    t.same(
      seen,
      [6, 5, 4, 3, 2, 1, 0].map((n) => `+1202555010${n}`),
      'pages stay what they were while contacts are added',
    );
    const cursor = before ?? '';
    await t.rejects(call('list_contacts', { query: { before: cursor } }, other.tenantId), {
      code: 'invalid_cursor',
    });
    const query = { phone: ' 12025550103' };
    const found = (await call<Page>('list_contacts', { query })).contacts;
    t.equal(found.length, 1, 'a plus that became a space');
    await t.rejects(call('list_contacts', { query: { phone: '12' } }), {
      code: 'invalid_phone_number',
    });
    t.same((await call<Page>('list_contacts', { query: { channel: 'chatapp' } })).contacts, []);
    t.same((await call<Page>('list_contacts', {}, other.tenantId)).contacts, []);
    const strange = (channel: string, tenant = tenantId) =>
      call<Page>('list_contacts', { query: { channel, phone: '+12025550103' } }, tenant);
    const message = 'query/channel must be one of msgapp_web, chatapp, irc, xmpp';
    await t.rejects(strange('msgapp-web'), {
      code: 'invalid_request',
      message,
      details: [{ path: 'query/channel', message }],
    });
    await stage.run(async (unit) => {
      const former = { channel: 'fax', phone: '+12025550100', networkId: null };
      const [one] = await storage.read.contacts.byKeys([
        { ...former, tenantId, channel: 'msgapp_web' },
      ]);
      if (one === undefined) throw new Error('it was written to');
      const made = { ...former, tenantId: other.tenantId, id: newId('con') };
      await unit.contacts.insert([{ ...one, ...made }]);
    });
    t.same((await strange('fax', other.tenantId)).contacts, [], 'of a driver that was taken out');
    await t.rejects(strange('fax'), { code: 'invalid_request' }, 'it has none of these');

    const create = (body: object) => call<Shown>('create_contact', { body });
    const made = await create({ channel: 'irc', address: ' Cid', name: 'Cid' });
    t.match(made, { phone: null, address: 'cid', name: 'Cid', channel: 'irc' });
    t.match(await create({ channel: 'irc', address: 'CID', name: 'Sid' }), made, 'there already');
    const dora = await create({ channel: 'msgapp_web', phone: '+12025550177' });
    t.match(dora, { phone: '+12025550177', address: '+12025550177', name: '' });
    for (const [body, path, code] of [
      [{ channel: 'fax', phone: '+12025550177' }, 'body/channel', 'invalid_request'],
      [{ channel: 'msgapp_web', phone: '12' }, 'body/phone', 'invalid_phone_number'],
      [{ channel: 'msgapp_web', address: 'cid' }, 'body/address', 'invalid_request'],
      [{ channel: 'irc', phone: '+12025550177' }, 'body/phone', 'invalid_request'],
      [{ channel: 'irc', address: 'two words' }, 'body/address', 'invalid_request'],
    ] as const) {
      await t.rejects(create(body), { code, details: [{ path }] }, path);
    }
    await t.rejects(create({ channel: 'chatapp', phone: '+12025550177' }), {
      code: 'channel_not_enabled',
      message: 'This channel is not enabled for the account.',
    });
    await t.rejects(create({ channel: 'xmpp', phone: '+12025550177' }), {
      code: 'channel_not_enabled',
      message: 'This gateway has no working driver for xmpp; its log says why.',
    });
    const at = async (address: string, more: object = {}) => {
      const page = await call<Page>('list_contacts', { query: { address, ...more } });
      return page.contacts.map(({ id }) => id);
    };
    t.same(await at('Cid '), [made.id], 'as the driver writes it');
    t.same(await at('cid', { channel: 'msgapp_web' }), []);
    t.same(await at(' 12025550177'), [dora.id], 'a phone number is an address');
    t.same(await at('nobody'), []);
    t.same(await call('list_contacts', { query: { address: 'cid' } }, other.tenantId), {
      contacts: [],
      next_cursor: null,
    });

    const params = { id: found[0]?.id ?? '' };
    const body = { name: 'Bea', do_not_disturb: true };
    t.match(await call('update_contact', { params, body }), body);
    t.match(await call('update_contact', { params, body: { automation_paused: true } }), {
      ...body,
      automation_paused: true,
      private: false,
    });
    t.match(await call('get_contact', { params }), { ...body, channel: 'msgapp_web' });
    for (const id of ['get_contact', 'update_contact']) {
      await t.rejects(call(id, { params, body }, other.tenantId), { code: 'contact_not_found' });
    }
    t.match(await call('get_contact', { params }), { name: 'Bea' });
    const isSet = async () => (await storage.read.contacts.find(tenantId, params.id))?.nameSet;
    t.equal(await isSet(), true, "the network's name is not followed any more");
    await call('update_contact', { params, body: { name: '' } });
    t.equal(await isSet(), false, 'an empty one follows it again');

    // A key that is limited to accounts: what others wrote to leaves no trace, in a cursor either.
    const { tenantId: shared, accountIds } = await makeTenant(stage, 3);
    const [own = '', second = '', foreign = ''] = accountIds;
    const phones = [...'01234567'].map((n) => `+1202555030${n}`);
    for (const [n, phone] of phones.entries()) {
      await stage.send({ tenantId: shared, accountId: n < 4 ? own : foreign, phone });
      if (n === 2) await stage.send({ tenantId: shared, accountId: second, phone });
    }
    const of = async (query: object, ...accounts: readonly string[]) =>
      await call<Page>('list_contacts', { query }, shared, new Set(accounts));
    const walk = async (...accounts: readonly string[]) => {
      const pages: (readonly string[])[] = [];
      for (let before: string | undefined; ; ) {
        const page = await of({ limit: 2, before }, ...accounts);
        pages.push(page.contacts.map(({ phone }) => phone));
        if (page.next_cursor === null) return pages;
        before = page.next_cursor;
      }
    };
    const whole = [
      [phones[3], phones[2]],
      [phones[1], phones[0]],
    ];
    t.same(await walk(own), whole);
    t.same(await walk(own, second), whole, 'one that two accounts know comes once');
    t.same(await walk(second), [[phones[2]]]);
    t.same(await walk(), [[]]);
    t.same((await of({ channel: 'chatapp' }, own)).contacts, []);
    t.equal((await of({ channel: 'msgapp_web' }, own)).contacts.length, 4);
    const [twin] = await storage.read.contacts.byKeys([
      { tenantId: shared, channel: 'msgapp_web', phone: phones[0] ?? '', networkId: null },
    ]);
    await stage.run(async (unit) => {
      if (twin === undefined) throw new Error('it was written to');
      const there = { channel: 'chatapp', createdAt: twin.createdAt + 60_000 };
      await unit.contacts.insert([{ ...twin, ...there, id: newId('con') }]);
    });
    for (const query of [{ phone: phones[0] }, { address: phones[0] }]) {
      const page = await of({ ...query, limit: 1 }, own);
      t.match(page, { contacts: [{ id: twin?.id }], next_cursor: null });
      t.same(await of({ ...query, limit: 1 }, foreign), { contacts: [], next_cursor: null });
    }
  });
}

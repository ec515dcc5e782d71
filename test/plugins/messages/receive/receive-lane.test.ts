import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../core/contracts/clock.ts';
import type {
  DriverContact,
  HistoryMessage,
  MessageEvent,
} from '../../../../core/contracts/driver.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { newId } from '../../../../core/ids.ts';
import { makeContactChangeLane } from '../../../../plugins/contacts/change.ts';
import type { Contact } from '../../../../plugins/contacts/contract.ts';
import type { KeptEvent } from '../../../../plugins/events/tables/events.ts';
import type { MessageWithContact } from '../../../../plugins/messages/tables/message-rows.ts';
import type { Plans } from '../../../../plugins/tenants/contract.ts';
import {
  type FreshDeliveries,
  makeDirectFanOut,
} from '../../../../plugins/webhooks/engine/direct-fan-out.ts';
import type { Delivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import { databases } from '../../../harness/databases.ts';
import {
  acceptedId,
  codeOf,
  FakeSession,
  forgetContact,
  forgetSome,
  inbound,
  makeTenant,
  noOptions,
  openStage,
  type Stage,
} from '../stage.ts';

const plans: Plans = {
  plan: () => ({
    sends_cap: 1,
    new_contacts_cap: 1,
    accounts_cap: 1,
    channels: true,
    webhooks: true,
    ramp_days: 0,
  }),
  names: () => [],
};

const all = { direction: null, accountId: null, before: null, limit: 100 } as const;

const messagesOf = (stage: Stage, tenantId: string): Promise<readonly MessageWithContact[]> =>
  stage.storage.read.messages.list(tenantId, all);

const contactsOf = (stage: Stage, tenantId: string): Promise<readonly Contact[]> =>
  stage.storage.read.contacts.list(tenantId, {
    channel: null,
    phone: null,
    before: null,
    limit: 100,
  });

async function events(stage: Stage, tenantId: string): Promise<Record<string, unknown>[]> {
  const rows: { payload: string }[] = await stage.storage.connections.read
    .select('payload')
    .from('events')
    .where('tenant_id', tenantId)
    .orderBy('id');
  return rows.map((row) => JSON.parse(row.payload));
}

/** Makes a subscription of the tenant's. */
async function subscribe(stage: Stage, tenantId: string): Promise<void> {
  await stage.run((unit) =>
    unit.webhooks.insert([
      {
        id: newId('wh'),
        tenantId,
        name: 'all',
        url: 'https://example.com/',
        receiverId: 'receiver',
        subscribedTo: ['message.received'],
        accountIds: null,
        channels: null,
        retriesEnabled: false,
        enabled: true,
        sealedSecret: null,
        previousSecret: null,
        grant: null,
        secretCreatedAt: null,
        createdAt: unit.now,
      },
    ]),
  );
}

/** An event's delivery, as far as it matters whose it is. */
function delivered(event: KeptEvent): Delivery {
  return {
    id: newId('dlv'),
    tenantId: event.tenantId,
    webhookId: 'wh_1',
    receiverId: 'receiver',
    eventId: event.id,
    eventType: event.type,
    subject: event.subject,
    state: 'delivered',
    test: false,
    attempts: 1,
    retries: 0,
    replayed: false,
    dueAt: null,
    log: [],
    createdAt: event.createdAt,
  };
}

for (const engine of databases) {
  t.test(`receiving, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const change = makeContactChangeLane({ forgetContact, forgetSome });
    const open = async () => {
      const { tenantId, accountIds } = await makeTenant(stage, 2);
      const [one, two] = accountIds.map(
        (id) => new FakeSession(tenantId, id, stage.broker.processId),
      ) as [FakeSession, FakeSession];
      return { tenantId, one, two };
    };

    t.test('one message, however often it is offered', async (t) => {
      const { tenantId, one, two } = await open();
      const media = {
        kind: 'image',
        mimeType: 'image/png',
        fileName: null,
        size: 5,
        url: 'https://example.com/a.png',
      } as const;
      await stage.part.receive(one, { ...inbound('n1', 'Hello'), media });
      await stage.part.receive(one, inbound('n1', 'Hello'));
      await Promise.all([1, 2, 3].map(() => stage.part.receive(one, inbound('n2'))));
      await stage.part.receive(two, inbound('n1', 'to the other account'));
      const long = 'x'.repeat(300);
      await stage.part.receive(one, inbound(long, 'a long id'));
      await stage.part.receive(one, inbound(long, 'a long id'));
      const stored = await messagesOf(stage, tenantId);
      t.same(stored.map((message) => [message.text, message.inboundSequence]).reverse(), [
        ['Hello', 1],
        ['n2', 2],
        ['to the other account', 3],
        ['a long id', 4],
      ]);
      t.match(stored.at(-1), {
        direction: 'inbound',
        status: 'received',
        contact: { phone: '+12025550123', name: 'Ada' },
        media: { kind: 'image', mime_type: 'image/png', size: 5 },
      });
      t.equal((await contactsOf(stage, tenantId)).length, 1);
      const raised = await events(stage, tenantId);
      t.equal(raised.length, 4);
      t.match(raised[0], {
        event: 'message.received',
        account_id: one.account.id,
        message: { direction: 'inbound', status: 'received', error: null },
        contact: { phone: '+12025550123', name: 'Ada' },
      });
      t.same(Object.keys(raised[0]?.message as object).sort(), [
        'direction',
        'error',
        'id',
        'media',
        'status',
        'text',
      ]);
      const sent = await stage.send({ tenantId, accountId: one.account.id });
      t.match(await stage.storage.read.messages.find(tenantId, acceptedId(sent)), {
        opener: false,
      });
    });

    t.test('messages of one session that arrive together keep their order', async (t) => {
      const { tenantId, one, two } = await open();
      const names = Array.from({ length: 40 }, (_, n) => `m${n}`);
      const receive = (session: FakeSession, name: string) =>
        stage.part.receive(session, inbound(name, name));
      await Promise.all(names.flatMap((name) => [receive(one, name), receive(two, name)]));
      const order = async (session: FakeSession) =>
        (await messagesOf(stage, tenantId))
          .filter((message) => message.accountId === session.account.id)
          .sort((a, b) => (a.inboundSequence ?? 0) - (b.inboundSequence ?? 0))
          .map((message) => message.text);
      t.same(await order(one), names);
      t.same(await order(two), names);

      // The database takes the first of three only when it is asked again.
      const { lanes } = stage;
      const { receive: store } = lanes;
      const asked: string[] = [];
      lanes.receive = async (input) => {
        asked.push(input.event.text);
        if (asked.length === 1) throw new GatewayError('unavailable');
        return store(input);
      };
      const late = ['late 1', 'late 2', 'late 3'].map((name) => inbound(name, name));
      const offer = () => Promise.allSettled(late.map((event) => stage.part.receive(one, event)));
      const refused = { status: 'rejected', reason: { code: 'unavailable' } };
      t.match(await offer(), [refused, refused, refused], 'none overtakes it');
      t.equal(asked.length, 3);
      t.match(
        await offer(),
        late.map(() => ({ status: 'fulfilled' })),
      );
      lanes.receive = store;
      t.same((await order(one)).slice(-3), ['late 1', 'late 2', 'late 3']);
    });

    t.test('one that cannot be stored holds up none behind it for long', async (t) => {
      const { tenantId, one, two } = await open();
      const broken = { ...inbound('broken'), text: null as unknown as string };
      const behind = ['a', 'b', 'c'].map((name) => inbound(name, name));
      const offer = (session: FakeSession, events: readonly MessageEvent[]) =>
        Promise.allSettled(events.map((event) => stage.part.receive(session, event)));
      const [first, others] = await Promise.all([
        offer(one, [broken, ...behind]),
        offer(two, behind),
      ]);
      t.equal(first[0]?.status, 'rejected');
      for (const { status } of others) t.equal(status, 'fulfilled', 'nor any of another session');
      // Decided before it was given up, they are brought again.
      await offer(one, behind);
      const stored = (await messagesOf(stage, tenantId))
        .filter((message) => message.accountId === one.account.id)
        .sort((a, b) => (a.inboundSequence ?? 0) - (b.inboundSequence ?? 0));
      t.same(
        stored.map((message) => message.text),
        ['a', 'b', 'c'],
      );
    });

    t.test('a message is fanned out in the transaction that stores it', async (t) => {
      const { tenantId, one } = await open();
      const due: FreshDeliveries[] = [];
      const prepare = makeDirectFanOut(
        { plans, clock: systemClock },
        { ended() {}, firstAttempt() {}, leaseLost() {} },
        (fresh) => due.push(...fresh),
      );
      const direct = await openStage(t, database.url, { outbox: { prepare } });
      await direct.part.receive(one, inbound('a'));
      t.same(due, [], 'nobody had subscribed');
      await subscribe(stage, tenantId);
      await direct.part.receive(one, inbound('b'));
      await direct.part.receive(one, inbound('b'));
      const { read } = stage.storage.connections;
      const states = await read('events').where('tenant_id', tenantId).orderBy('id').pluck('state');
      t.same(states, [1, 1], 'none waits in the outbox');
      const deliveries = await read('deliveries').where('tenant_id', tenantId);
      t.same(due.length, 1);
      t.match(due, [{ receiverId: 'receiver', hasOthers: false, ready: [{}] }]);
      t.same(
        deliveries.map(({ id, state }) => [id, state]),
        due.map(({ ready }) => [ready[0]?.delivery.id, 'waiting']),
      );
      await t.rejects(
        direct.part.receive(one, { ...inbound('c'), text: null as unknown as string }),
      );
      t.same(due.length, 1, 'nothing is due of what was rolled back');
    });

    t.test('contacts are found by phone or network id, and completed', async (t) => {
      const { tenantId, one } = await open();
      const receive = (id: string, from: DriverContact) =>
        stage.part.receive(one, { ...inbound(id), from });
      await stage.send({ tenantId, accountId: one.account.id, phone: '+12025550101' });
      await receive('a', { phone: null, networkId: 'hidden-1', name: null });
      await receive('b', { phone: '+12025550101', networkId: 'net-101', name: 'Bea' });
      await receive('c', { phone: null, networkId: 'net-101', name: 'Beatrice' });
      await receive('d', { phone: '+12025550102', networkId: 'hidden-1', name: 'Cid' });
      await receive('e', { phone: null, networkId: null, name: 'nobody' });
      const contacts = await contactsOf(stage, tenantId);
      t.same(contacts.map(({ phone, networkId, name }) => [phone, networkId, name]).sort(), [
        ['+12025550101', 'net-101', 'Beatrice'],
        ['+12025550102', 'hidden-1', 'Cid'],
      ]);
      t.equal((await messagesOf(stage, tenantId)).length, 5, 'nobody is not stored');
    });

    t.test('private', async (t) => {
      const { tenantId, one, two } = await open();
      await subscribe(stage, tenantId);
      await stage.part.receive(one, inbound('a'));
      const undispatched = acceptedId(await stage.send({ tenantId, accountId: two.account.id }));
      const dispatched = acceptedId(await stage.send({ tenantId, accountId: one.account.id }));
      await stage.dispatch(one, dispatched);
      await stage.part.receive(one, inbound('z', 'from another', '+12025550199'));
      const [, ada] = (await contactsOf(stage, tenantId)) as [Contact, Contact];
      const set = (changes: Partial<Contact>, tenant = tenantId) =>
        stage.storage.submit(change, { tenantId: tenant, id: ada.id, changes });
      await stage.run(async (unit) => {
        const { events: raised } = await unit.events.waitingForChange(100);
        const mine = raised.filter((event) => event.tenantId === tenantId);
        await unit.deliveries.add(mine.map((event) => delivered(event)));
        await unit.events.markFannedOut(mine.map((event) => event.id));
      });
      t.equal(await set({ private: true }, 'ten_other'), null, "not another tenant's");
      t.match(await set({ private: true }), { private: true, name: 'Ada' });
      const left = await messagesOf(stage, tenantId);
      t.same(
        left.map((message) => [message.id === undispatched, message.status, message.text]),
        [
          [false, 'received', 'from another'],
          [true, 'failed', ''],
        ],
      );
      t.match(left[1]?.error, /^contact_private: /);
      t.equal((await events(stage, tenantId)).length, 1, 'only the other contact is told of');
      const deliveries = stage.storage.connections.read('deliveries').where('tenant_id', tenantId);
      t.same(await deliveries.pluck('subject'), [left[0]?.id], 'and delivered');
      await stage.part.receive(one, inbound('b'));
      t.equal((await messagesOf(stage, tenantId)).length, 2, 'nothing is stored');
      t.equal(
        codeOf(await stage.send({ tenantId, accountId: one.account.id, contactId: ada.id })),
        'contact_private',
      );
      // The answer to what was under way finds nothing to change.
      const outcome = { kind: 'sent', id: dispatched, networkId: 'n', at: 1 } as const;
      await stage.settle(one, outcome);
      t.equal((await events(stage, tenantId)).length, 1);

      await set({ private: false, doNotDisturb: true, name: 'Ada L.' });
      await stage.part.receive(one, inbound('c'));
      t.equal((await messagesOf(stage, tenantId)).length, 3, 'do not disturb lets it in');
      t.equal(
        codeOf(await stage.send({ tenantId, accountId: one.account.id, contactId: ada.id })),
        'contact_do_not_disturb',
      );
    });

    t.test('a receipt that is entered while its contact becomes private', async (t) => {
      const { tenantId, one } = await open();
      const id = acceptedId(await stage.send({ tenantId, accountId: one.account.id }));
      await stage.dispatch(one, id);
      const sent = { kind: 'sent', id, networkId: 'net', at: 1 } as const;
      await stage.settle(one, sent);
      const [contact] = (await contactsOf(stage, tenantId)) as [Contact];
      const other = await openStage(t, database.url);
      const named = { type: 'receipt', reference: id, networkId: 'net' } as const;
      const receipt = { ...named, status: 'read', error: null, at: 2 } as const;
      let entering: Promise<unknown> | undefined;
      await stage.run((unit) => {
        const events = Object.create(unit.events, {
          deleteOfSubjects: {
            async value(...of: Parameters<typeof unit.events.deleteOfSubjects>) {
              await unit.events.deleteOfSubjects(...of);
              entering = other.lanes.receipts(one, [receipt]);
              await pause(300);
            },
          },
        });
        return forgetContact({ ...unit, events }, tenantId, contact.id);
      });
      t.same(await entering, [receipt], 'it names no message any more');
      t.same(await messagesOf(stage, tenantId), []);
      t.same(await events(stage, tenantId), [], 'nobody is told of it');
    });

    t.test('a size that no file can have is unknown', async (t) => {
      const { tenantId, one } = await open();
      const media = { kind: 'image', mimeType: null, fileName: null, url: null } as const;
      const sizes = [1.5, 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN, -1, 0];
      for (const size of sizes) {
        const event = { ...inbound(`sized ${size}`), media: { ...media, size } };
        await stage.part.receive(one, event);
      }
      const shown = (await messagesOf(stage, tenantId)).map((message) => message.media?.size);
      t.same(shown.reverse(), [null, null, null, null, null, 0]);
      const payloads = await events(stage, tenantId);
      t.same(
        payloads.map(({ message }) => (message as MessageWithContact).media?.size),
        [null, null, null, null, null, 0],
        'nor in an event',
      );
    });

    t.test('imports', async (t) => {
      const { tenantId, one, two } = await open();
      const book = [
        { phone: '+12025550101', networkId: null, name: 'Bea' },
        { phone: '+12025550102', networkId: null, name: null },
      ];
      await stage.part.receive(one, { type: 'contacts', contacts: book });
      t.same(await contactsOf(stage, tenantId), [], 'not asked for');
      const { tenantId: other, one: closed } = await open();
      closed.capabilities = { ...closed.capabilities, recipients: 'contacts' };
      await stage.part.receive(closed, { type: 'contacts', contacts: book });
      const names = (await contactsOf(stage, other)).map((contact) => contact.name);
      t.same(names.sort(), ['', 'Bea'], 'a network of contacts gives them unasked');

      one.connectOptions = {
        ...noOptions,
        importContacts: true,
        importHistory: true,
        pauseAutomation: true,
      };
      await stage.part.receive(one, { type: 'contacts', contacts: book });
      await stage.part.receive(one, { type: 'contacts', contacts: book });
      const imported = await contactsOf(stage, tenantId);
      t.equal(imported.length, 2);
      t.ok(imported.every((contact) => contact.automationPaused && !contact.private));

      const at = Date.parse('2020-01-01T00:00:00.000Z');
      const bea = { phone: '+12025550101', networkId: null, name: 'Bea' };
      const past = Array.from(
        { length: 250 },
        (_, n): HistoryMessage => ({
          networkId: `old-${n}`,
          direction: n % 2 === 0 ? 'inbound' : 'outbound',
          contact: bea,
          text: `old ${n}`,
          media: null,
          at: at + n,
        }),
      );
      await stage.part.receive(one, { type: 'history', messages: past });
      await stage.part.receive(one, { type: 'history', messages: past.slice(100) });
      await stage.part.receive(one, { ...inbound('old-0'), from: bea });
      const latest = await messagesOf(stage, tenantId);
      t.equal(latest[0]?.text, 'old 249');
      t.match(latest[0], { status: 'sent', sequence: null, createdAt: at + 249, sentAt: at + 249 });
      const stored: { id: string }[] = await stage.storage.connections.read
        .select('id')
        .from('messages')
        .where('tenant_id', tenantId);
      t.equal(stored.length, 250, 'each once, also beside a live one');
      const late = { type: 'receipt', reference: 'old-249', networkId: 'old-249', at } as const;
      await stage.lanes.receipts(one, [{ ...late, status: 'failed', error: 'x: y' }]);
      t.match((await messagesOf(stage, tenantId))[0], { status: 'sent', error: null });
      await stage.lanes.receipts(one, [{ ...late, status: 'read', error: null }]);
      t.match((await messagesOf(stage, tenantId))[0], { status: 'read', readAt: at + 249 });
      t.same(await events(stage, tenantId), []);
      t.equal((await stage.storage.read.tenants.inboundSequences([tenantId])).get(tenantId), 0);
      const sent = await stage.send({
        tenantId,
        accountId: one.account.id,
        phone: '+12025550101',
      });
      t.match(await stage.storage.read.messages.find(tenantId, acceptedId(sent)), {
        opener: false,
        sequence: 1,
      });
      const own = { networkId: acceptedId(sent), direction: 'outbound', contact: bea } as const;
      const again = { ...own, text: 'Hello', media: null, at };
      await stage.part.receive(one, { type: 'history', messages: [again] });
      const { read } = stage.storage.connections;
      const of = (id: string) => read('messages').where({ tenant_id: tenantId, network_id: id });
      t.same(await of(own.networkId), [], 'what the gateway is sending itself is no history');

      two.connectOptions = { ...noOptions, importContacts: true, markPrivate: true };
      const more = [...book, { phone: '+12025550103', networkId: null, name: 'Cid' }];
      await stage.part.receive(two, { type: 'contacts', contacts: more });
      const flags = (await contactsOf(stage, tenantId)).map(({ phone, private: hidden }) => [
        phone,
        hidden,
      ]);
      t.same(flags.sort(), [
        ['+12025550101', false],
        ['+12025550102', false],
        ['+12025550103', true],
      ]);
    });

    t.test('who is saved after the import is neither private nor paused', async (t) => {
      const { tenantId, one } = await open();
      const options = { ...noOptions, importContacts: true, pauseAutomation: true };
      one.connectOptions = { ...options, markPrivate: true };
      const person = (digit: number, name: string) => {
        return { phone: `+1202555020${digit}`, networkId: null, name };
      };
      const [ada, ben, cy] = [person(1, 'Ada'), person(2, 'Ben'), person(3, 'Cy')];
      await stage.part.receive(one, { type: 'contacts', contacts: [ada], later: false });
      await stage.part.receive(one, { type: 'contacts', contacts: [ada, ben], later: true });
      await stage.part.receive(one, { type: 'contacts', contacts: [cy] });
      await stage.part.receive(one, { ...inbound('of a customer'), from: ben });
      const renamed = { ...ben, name: 'Ben L.' };
      await stage.part.receive(one, { type: 'contacts', contacts: [renamed], later: true });
      const flags = (await contactsOf(stage, tenantId)).map((contact) => {
        return [contact.name, contact.private, contact.automationPaused];
      });
      t.same(flags.sort(), [
        ['Ada', true, true],
        ['Ben L.', false, false],
        ['Cy', true, true],
      ]);
      t.equal((await messagesOf(stage, tenantId)).length, 1, 'the message is there');
    });
  });
}

import t, { type Test } from 'tap';
import type { DriverContact, HistoryMessage } from '../../../../core/contracts/driver.ts';
import { makeContactChangeLane } from '../../../../plugins/contacts/change.ts';
import type { Contact } from '../../../../plugins/contacts/contract.ts';
import type { MessageWithContact } from '../../../../plugins/messages/tables/message-rows.ts';
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
} from '../stage.ts';

const phone = '+12025550123';
const hidden = 'hidden-1@lid';
const number: DriverContact = { phone, networkId: null, name: null };
const hiddenId: DriverContact = { phone: null, networkId: hidden, name: 'Ada' };
const both: DriverContact = { phone, networkId: hidden, name: null };
const stranger: DriverContact = { phone, networkId: 'hidden-0', name: 'Alice' };
const otherPhone = '+12025550100';
const nobody: DriverContact = { phone: null, networkId: null, name: null };

for (const engine of databases) {
  t.test(`one person, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const other = await openStage(t, database.url);
    const lane = makeContactChangeLane({ forgetContact, forgetSome });
    const { read, connections } = stage.storage;

    const open = async () => {
      const { tenantId, accountIds } = await makeTenant(stage, 2);
      const [one, two] = accountIds.map(
        (id) => new FakeSession(tenantId, id, stage.broker.processId),
      ) as [FakeSession, FakeSession];
      const filter = { channel: null, phone: null, before: null, limit: 100 };
      const all = { direction: null, accountId: null, before: null, limit: 100 } as const;
      return {
        tenantId,
        one,
        two,
        contacts: () => read.contacts.list(tenantId, filter),
        messages: () => read.messages.list(tenantId, all),
        find: (id: string) => read.contacts.find(tenantId, id),
        write: (id: string, from: DriverContact, session = one) =>
          stage.part.receive(session, { ...inbound(id), from }),
        identify: (contact: DriverContact) =>
          stage.part.receive(one, { type: 'identity', ...contact }),
        move: (formerly: string, networkId: string) =>
          stage.part.receive(one, { type: 'address', formerly, networkId }),
        /** A message of the past. */
        remember: async (contact: DriverContact) => {
          one.connectOptions = { ...noOptions, importHistory: true };
          const message: HistoryMessage = {
            ...{ networkId: 'old', direction: 'outbound', contact },
            ...{ text: 'old', media: null, at: 1 },
          };
          await stage.part.receive(one, { type: 'history', messages: [message] });
        },
        send: (to: { phone?: string; contactId?: string }, session = one, by = stage) =>
          by.send({ tenantId, accountId: session.account.id, ...to }),
        change: (id: string, changes: Partial<Contact>) =>
          stage.storage.submit(lane, { tenantId, id, changes }),
        events: (): Promise<{ subject: string }[]> =>
          connections.read.select('subject').from('events').where('tenant_id', tenantId),
      };
    };
    type Opened = Awaited<ReturnType<typeof open>>;

    /** The two contacts in the order in which they were made. */
    const two = async ({ contacts }: Opened): Promise<[Contact, Contact]> => {
      const [younger, older, ...others] = await contacts();
      if (younger === undefined || older === undefined || others.length > 0) {
        throw new Error('there are not two contacts');
      }
      return [older, younger];
    };

    /** That both ids name one contact with both addresses, which has all messages. */
    const isOne = async (t: Test, world: Opened, [older, younger]: [Contact, Contact]) => {
      const [only, ...others] = await world.contacts();
      t.same(others, []);
      t.match(only, { id: older.id, phone, networkId: hidden });
      for (const { id } of [older, younger]) t.same(await world.find(id), only, 'by every id');
      const messages = await world.messages();
      t.ok(messages.every(({ contactId }) => contactId === older.id));
      return messages;
    };

    t.test('an address that changes', async (t) => {
      const world = await open();
      const nick = (networkId: string) => ({ phone: null, networkId, name: networkId });
      const addresses = async () => (await world.contacts()).map((one) => one.networkId).sort();
      await world.write('from ada', nick('ada'));
      const [ada] = await world.contacts();
      await world.move('nobody', 'somebody');
      t.same(await world.contacts(), [ada], 'it makes no contact');
      await world.move('ada', 'ada_');
      t.match(await world.contacts(), [{ id: ada?.id, networkId: 'ada_' }], 'the contact stays');
      await world.move('ada', 'ada_');
      await world.write('from another ada', nick('ada'));
      t.same(await addresses(), ['ada', 'ada_'], 'its old address is free');
      // Told at once, in a row: each takes what the one before has left.
      await Promise.all([
        world.move('ada_', 'ada__'),
        world.move('ada', 'ada_'),
        world.write('from a third ada', nick('ben')),
      ]);
      await world.move('ben', 'ada');
      t.same(await addresses(), ['ada', 'ada_', 'ada__']);
      t.match(await world.find(ada?.id ?? ''), { networkId: 'ada__' });
      await world.move('ada_', 'ada__');
      t.same(await addresses(), ['ada', 'ada__'], 'who had the address is the same person');
      t.match(await world.find(ada?.id ?? ''), { networkId: 'ada__', name: 'ada' });
      const messages = await world.messages();
      t.equal(messages.filter(({ contactId }) => contactId === ada?.id).length, 2);
      t.match(await world.send({ contactId: ada?.id ?? '' }), {
        accepted: { contact_id: ada?.id },
      });
    });

    for (const [first, steps] of [
      ['the number', [number, hiddenId]],
      ['the hidden id', [hiddenId, number]],
    ] as const) {
      for (const how of ['a message', 'an identity', 'a contact', 'the past'] as const) {
        t.test(`${first} first, then both in ${how}`, async (t) => {
          const world = await open();
          for (const from of steps) {
            if (from === number) acceptedId(await world.send({ phone }));
            else await world.write('from the hidden id', from);
          }
          const pair = await two(world);
          const raised = (await world.events()).length;
          if (how === 'a message') await world.write('from both', both);
          if (how === 'an identity') await world.identify(both);
          if (how === 'a contact') {
            await stage.part.receive(world.one, { type: 'contacts', contacts: [nobody, both] });
          }
          if (how === 'the past') await world.remember(both);
          const messages = await isOne(t, world, pair);
          t.equal(messages.length, how === 'a message' || how === 'the past' ? 3 : 2);
          t.equal((await world.events()).length - raised, how === 'a message' ? 1 : 0);
          t.equal((await world.contacts())[0]?.name, 'Ada', 'the name that is not empty');
          const [older, younger] = pair;
          for (const to of [{ phone }, { contactId: older.id }, { contactId: younger.id }]) {
            const decision = await world.send(to);
            t.match(decision, { accepted: { contact_id: older.id } });
          }
          t.match(await world.send({ phone, contactId: younger.id }), {
            accepted: { contact_id: older.id },
          });
          const wrong = { phone: '+12025550199', contactId: younger.id };
          t.equal(codeOf(await world.send(wrong)), 'invalid_request');
          await world.write('from the number', number);
          await world.write('from the hidden id again', hiddenId);
          await isOne(t, world, pair);
        });
      }
    }

    t.test('another process that remembers the contacts of its last sends', async (t) => {
      const world = await open();
      await world.write('hello', hiddenId);
      acceptedId(await world.send({ phone }));
      const pair = await two(world);
      const [older, younger] = pair;
      for (const by of [stage, other]) {
        for (let n = 0; n < 4; n += 1) {
          acceptedId(await world.send({ phone }, world.one, by));
          acceptedId(await world.send({ contactId: younger.id }, world.one, by));
        }
      }
      await world.identify(both);
      for (const by of [other, stage]) {
        for (const to of [{ phone }, { contactId: younger.id }, { contactId: older.id }]) {
          const decision = await world.send(to, world.one, by);
          t.match(decision, { accepted: { contact_id: older.id } });
        }
      }
      await isOne(t, world, pair);
    });

    t.test('what was queued goes to an address that works, once', async (t) => {
      const world = await open();
      await world.write('hello', hiddenId);
      const id = acceptedId(await world.send({ phone }));
      const under = acceptedId(await world.send({ phone }, world.two));
      t.match(await stage.dispatch(world.two, under), { to: { phone, networkId: null } });
      await world.identify(both);
      t.match(await stage.dispatch(world.one, id), { to: { phone, networkId: hidden } });
      t.match(await stage.part.sentMessage(world.one, id), { to: { phone, networkId: hidden } });
      const sent = { kind: 'sent', id: under, networkId: 'n', at: 1 } as const;
      await stage.settle(world.two, sent);
      const [older] = await world.contacts();
      t.match(await read.messages.find(world.tenantId, under), {
        ...{ status: 'sent', contactId: older?.id },
      });
    });

    t.test('who wrote under the hidden id is no stranger to the number', async (t) => {
      const world = await open();
      acceptedId(await world.send({ phone }));
      await world.write('hello', hiddenId, world.two);
      const pair = await two(world);
      acceptedId(await world.send({ contactId: pair[1].id }));
      const before = await read.threads.ofContacts(pair.map(({ id }) => id));
      t.equal(before.length, 3);
      await world.identify(both);
      const after = await read.threads.ofContacts(pair.map(({ id }) => id));
      t.equal(after.length, 2);
      t.ok(after.every(({ contactId }) => contactId === pair[0].id));
      const opened = before.flatMap(({ openedAt }) => openedAt ?? []);
      const ofOne = after.find(({ accountId }) => accountId === world.one.account.id);
      t.equal(ofOne?.openedAt, Math.min(...opened), 'opened by the first of both');
      const decision = await world.send({ phone }, world.two);
      t.match(await read.messages.find(world.tenantId, acceptedId(decision)), { opener: false });
    });

    t.test('the loop guard counts what both have written', async (t) => {
      const guarded = await openStage(t, database.url, { loopMessages: 2 });
      const world = await open();
      await world.write('one', hiddenId);
      await world.write('two', number);
      for (let n = 0; n < 2; n += 1) await world.send({ phone });
      await world.identify(both);
      t.equal(codeOf(await world.send({ phone }, world.one, guarded)), 'loop_guard');
    });

    t.test('flags are those of both', async (t) => {
      const world = await open();
      acceptedId(await world.send({ phone }));
      await world.write('hello', hiddenId);
      const [older, younger] = await two(world);
      await world.change(older.id, { doNotDisturb: true });
      await world.change(younger.id, { automationPaused: true });
      await world.identify(both);
      t.match(await world.find(younger.id), { doNotDisturb: true, automationPaused: true });
      t.match(await world.change(younger.id, { doNotDisturb: false }), { id: older.id });
      t.match(await world.find(older.id), { doNotDisturb: false, automationPaused: true });
    });

    for (const which of [0, 1] as const) {
      for (const how of ['a message', 'an identity'] as const) {
        t.test(`one of both is private: ${which}, by ${how}`, async (t) => {
          const world = await open();
          await world.write('hello', hiddenId);
          const queued = acceptedId(await world.send({ phone }));
          const dispatched = acceptedId(await world.send({ phone }, world.two));
          await stage.dispatch(world.two, dispatched);
          const pair = await two(world);
          await world.change(pair[which].id, { private: true });
          if (how === 'a message') await world.write('not kept', both);
          else await world.identify({ ...both, name: 'Not Kept' });
          for (const { id } of pair) {
            t.match(await world.find(id), { id: pair[0].id, private: true, name: 'Ada' });
          }
          const left: readonly MessageWithContact[] = await world.messages();
          t.match(left, [{ id: queued, status: 'failed', text: '', contactId: pair[0].id }]);
          t.equal(left.length, 1);
          t.match(left[0]?.error, /^contact_private: /);
          t.same(await world.events(), [], 'nobody is told of any');
          for (const from of [number, hiddenId, both]) await world.write('nor this', from);
          t.equal((await world.messages()).length, 1);
          t.equal(codeOf(await world.send({ phone })), 'contact_private');
        });
      }
    }

    t.test('a private contact is known by its other address, too', async (t) => {
      const world = await open();
      await world.write('hello', number);
      const [only] = await world.contacts();
      await world.change(only?.id ?? '', { private: true });
      await world.identify(both);
      await world.write('from the hidden id', hiddenId);
      t.equal((await world.contacts()).length, 1);
      t.same(await world.messages(), []);
    });

    t.test('an identity makes nobody, and completes who is known', async (t) => {
      const world = await open();
      await world.identify({ ...both, name: 'Ada' });
      t.same(await world.contacts(), []);
      acceptedId(await world.send({ phone }));
      await world.identify({ ...both, name: 'Ada' });
      t.match(await world.contacts(), [{ phone, networkId: hidden, name: 'Ada' }]);
    });

    t.test('a contact that the API made is counted until the contact writes', async (t) => {
      const world = await open();
      acceptedId(await world.send({ phone }));
      const [{ id = '' } = {}] = await world.contacts();
      await world.change(id, { uncounted: true });
      await world.identify({ ...both, name: 'Ada' });
      t.match(await world.contacts(), [{ networkId: hidden, name: 'Ada', uncounted: true }]);
      await world.write('hello', hiddenId);
      t.match(await world.contacts(), [{ uncounted: false }]);
    });

    t.test('an alias of an alias leads to the contact in one step', async (t) => {
      const world = await open();
      // The youngest goes first.
      acceptedId(await world.send({ phone: otherPhone }));
      acceptedId(await world.send({ phone }));
      await world.write('hello', hiddenId);
      const ids = (await world.contacts()).map(({ id }) => id);
      await world.identify(both);
      await world.identify({ ...both, phone: otherPhone });
      const [only, ...others] = await world.contacts();
      t.same(others, []);
      t.match(only, { id: ids[2], phone: otherPhone, networkId: hidden });
      const aliases = await read.contactAliases.of(ids);
      t.same([...aliases.values()], [ids[2], ids[2]]);
      for (const id of ids) {
        t.same(await world.find(id), only);
        t.match(await world.send({ contactId: id }), { accepted: { contact_id: ids[2] } });
      }
      const elsewhere = await open();
      t.equal(await elsewhere.find(ids[0] ?? ''), null, "not another tenant's");
      const foreign = await elsewhere.send({ contactId: ids[0] ?? '' });
      t.equal(codeOf(foreign), 'contact_not_found');
    });

    t.test('several of one batch turn out to be one, whatever their order', async (t) => {
      const world = await open();
      const senders = [hiddenId, number, both, hiddenId, number];
      const ids = senders.map((_, n) => `m${n}`);
      await Promise.all(senders.map((from, n) => world.write(`m${n}`, from)));
      const [only, ...others] = await world.contacts();
      t.same(others, []);
      const messages = [...(await world.messages())].reverse();
      t.same(
        messages.map(({ text }) => text),
        ids,
      );
      t.ok(messages.every(({ contactId }) => contactId === only?.id));
    });

    /** Where a queued message goes. */
    const destination = async (session: FakeSession, id: string) => {
      const sent = await stage.dispatch(session, id);
      return sent != null && 'to' in sent ? sent.to : undefined;
    };
    /** What is known of the network id before it is seen with the number. */
    const earlier = {
      nothing: null,
      'its messages': hiddenId,
      'another number': { ...hiddenId, phone: otherPhone },
    } as const;
    for (const how of ['a message', 'an identity'] as const) {
      const arrive = ({ write, identify }: Opened, contact: DriverContact) =>
        how === 'a message' ? write('now', contact) : identify(contact);

      for (const [what, before] of Object.entries(earlier)) {
        t.test(`a number that changed hands, by ${how}, known before: ${what}`, async (t) => {
          const world = await open();
          await world.write('from Alice', stranger);
          const [alice] = (await world.contacts()) as [Contact];
          if (before !== null) await world.write('from Ada', before);
          const queued = acceptedId(await world.send({ phone }));
          for (const by of [stage, other]) {
            for (let n = 0; n < 4; n += 1) {
              acceptedId(await world.send({ phone }, world.two, by));
            }
          }
          await world.change(alice.id, { doNotDisturb: true, automationPaused: true });
          const known = (await world.contacts()).find(({ id }) => id !== alice.id);
          const told = (await world.messages()).length;
          await arrive(world, { ...both, name: 'Ada' });

          const contacts = await world.contacts();
          t.equal(contacts.length, 2);
          t.same(await world.find(alice.id), {
            ...{ ...alice, phone: null, doNotDisturb: true, automationPaused: true },
          });
          const ada = contacts.find(({ id }) => id !== alice.id);
          const flags = { private: false, doNotDisturb: true, automationPaused: true };
          t.match(ada, { phone, networkId: hidden, name: 'Ada', ...flags });
          if (known !== undefined) t.equal(ada?.id, known.id);
          const messages = await world.messages();
          t.equal(messages.length, told + (how === 'a message' ? 1 : 0));
          for (const { text, contactId } of messages) {
            const isAdas = text === 'now' || text === 'from Ada';
            t.equal(contactId, isAdas ? ada?.id : alice.id, 'each has her own messages');
          }
          for (const by of [stage, other]) {
            const refused = await world.send({ phone }, world.two, by);
            t.equal(codeOf(refused), 'contact_do_not_disturb', 'the number still is');
          }

          await world.change(alice.id, { doNotDisturb: false });
          t.same(await destination(world.one, queued), { phone: null, networkId: 'hidden-0' });
          await world.change(ada?.id ?? '', { doNotDisturb: false });
          for (const by of [stage, other]) {
            const decision = await world.send({ phone }, world.two, by);
            t.match(decision, { accepted: { contact_id: ada?.id } });
          }
          const sent = acceptedId(await world.send({ phone }));
          t.same(await destination(world.one, sent), { phone, networkId: hidden });
          if (before?.phone) {
            const decision = await world.send({ phone: otherPhone });
            acceptedId(decision);
            t.equal((await world.contacts()).length, 3, 'the number before may be anybody');
          }
        });

        t.test(`a private number that changed hands, by ${how}, before: ${what}`, async (t) => {
          const world = await open();
          await world.write('from Alice', stranger);
          const [alice] = (await world.contacts()) as [Contact];
          if (before !== null) await world.write('from Ada', before);
          await world.change(alice.id, { private: true });
          await arrive(world, { ...both, name: 'Not Kept' });
          const contacts = await world.contacts();
          const ada = contacts.find(({ id }) => id !== alice.id);
          t.equal(contacts.length, 2);
          t.match(ada, { phone, networkId: hidden, name: before === null ? '' : 'Ada' });
          t.ok(contacts.every((contact) => contact.private));
          for (const from of [number, hiddenId, both, { ...stranger, phone: null }]) {
            await world.write('nor this', from);
          }
          const left = await world.messages();
          t.notOk(left.some(({ contactId }) => contactId === ada?.id));
          t.notOk(left.some(({ text }) => text === 'now' || text === 'nor this'));
          t.equal(codeOf(await world.send({ phone })), 'contact_private');
        });
      }

      t.test(`a private person takes a number over, by ${how}`, async (t) => {
        const world = await open();
        await world.write('from Alice', stranger);
        await world.write('from Ada', hiddenId);
        const [alice, ada] = await two(world);
        await world.change(ada.id, { private: true });
        await arrive(world, both);
        t.match(await world.find(alice.id), { private: false, phone: null });
        t.match(await world.find(ada.id), { private: true, phone });
        t.equal(codeOf(await world.send({ phone })), 'contact_private');
        const [{ text }, ...others] = (await world.messages()).filter(
          ({ contactId }) => contactId === alice.id,
        ) as [MessageWithContact];
        t.same([text, others], ['from Alice', []]);
      });

      t.test(`somebody has another number now, by ${how}`, async (t) => {
        const world = await open();
        await world.write('before', { ...both, phone: otherPhone });
        const [ada] = (await world.contacts()) as [Contact];
        await world.change(ada.id, { doNotDisturb: true });
        await arrive(world, both);
        t.same(await world.contacts(), [{ ...ada, phone, doNotDisturb: true }]);
        t.equal(codeOf(await world.send({ phone })), 'contact_do_not_disturb');
        acceptedId(await world.send({ phone: otherPhone }));
        t.equal((await world.contacts()).length, 2, 'the old one may be anybody');
      });

      t.test(`somebody has a number that was written to, by ${how}`, async (t) => {
        const world = await open();
        await world.write('before', { ...both, phone: otherPhone });
        acceptedId(await world.send({ phone }));
        const pair = await two(world);
        await arrive(world, both);
        await isOne(t, world, pair);
        acceptedId(await world.send({ phone: otherPhone }));
        t.equal((await world.contacts()).length, 2, 'the old one may be anybody');
      });
    }

    const ada = { ...both, phone: otherPhone };
    for (const [what, known] of Object.entries({
      'the number is of another': [stranger],
      'each is of one': [stranger, hiddenId],
      'each is of one who has both': [stranger, ada],
      'the network id has another number': [ada],
      'the number is of nobody whom the network has named': [number, ada],
    })) {
      t.test(`an address book or the past takes no number away: ${what}`, async (t) => {
        const world = await open();
        for (const [n, from] of known.entries()) await world.write(`m${n}`, from);
        const contacts = await world.contacts();
        world.one.connectOptions = { ...noOptions, importContacts: true };
        await stage.part.receive(world.one, { type: 'contacts', contacts: [both] });
        t.same(await world.contacts(), contacts, 'an address book');
        await world.remember(both);
        t.same(await world.contacts(), contacts, 'the past');
        t.equal((await world.messages()).length, known.length + 1);
      });
    }

    t.test('a repeated message takes no number back', async (t) => {
      const world = await open();
      await world.write('repeated', both);
      await world.write('from Alice', stranger);
      const contacts = await world.contacts();
      t.same(contacts.map(({ phone }) => phone).sort(), [phone, null].sort());
      await world.write('repeated', both);
      t.same(await world.contacts(), contacts);
      t.equal((await world.messages()).length, 2);
    });

    t.test('an old message of a private number, or of a private person, is not kept', async (t) => {
      for (const which of [0, 1] as const) {
        const world = await open();
        await world.write('from Alice', stranger);
        await world.write('from Ada', hiddenId);
        const pair = await two(world);
        await world.change(pair[which].id, { private: true });
        const { length } = await world.messages();
        await world.remember(both);
        t.equal((await world.messages()).length, length);
      }
    });

    t.test('three who swap their numbers in one batch', async (t) => {
      const world = await open();
      const names = ['hidden-1', 'hidden-2', 'hidden-3'];
      const at = (n: number) => `+1202555010${n % names.length}`;
      for (const [n, networkId] of names.entries()) {
        await world.write(`first ${n}`, { phone: at(n), networkId, name: null });
      }
      await Promise.all(
        names.map((networkId, n) =>
          world.write(`second ${n}`, { phone: at(n + 1), networkId, name: null }),
        ),
      );
      const contacts = await world.contacts();
      t.equal(contacts.length, names.length);
      for (const [n, networkId] of names.entries()) {
        const contact = contacts.find((one) => one.networkId === networkId);
        t.equal(contact?.phone, at(n + 1));
        const theirs = (await world.messages()).filter((one) => one.contactId === contact?.id);
        t.same(theirs.map(({ text }) => text).sort(), [`first ${n}`, `second ${n}`]);
      }
    });

    t.test('a number that goes from hand to hand in one batch', async (t) => {
      const world = await open();
      await world.write('first', { phone, networkId: 'hidden-1', name: null });
      const names = ['hidden-2', 'hidden-3', 'hidden-1', 'hidden-4'];
      await Promise.all(
        names.map((networkId) => world.write(`of ${networkId}`, { phone, networkId, name: null })),
      );
      const contacts = await world.contacts();
      t.equal(contacts.length, 4);
      for (const { id, networkId, phone: held } of contacts) {
        t.equal(held, networkId === 'hidden-4' ? phone : null);
        const theirs = (await world.messages()).filter((one) => one.contactId === id);
        t.equal(theirs[0]?.text, `of ${networkId}`);
      }
    });

    t.test("the network's name is followed until one is set through the API", async (t) => {
      const world = await open();
      const named = (name: string | null) => ({ ...both, name });
      const name = async () => (await world.contacts())[0]?.name;
      await world.write('a', named('Ada'));
      await world.write('b', named('Ada L.'));
      t.equal(await name(), 'Ada L.');
      await world.write('c', named(null));
      await world.write('d', named(''));
      t.equal(await name(), 'Ada L.', 'no name erases none');
      const contacts = [named('Ada, book club')];
      await stage.part.receive(world.one, { type: 'contacts', contacts });
      t.equal(await name(), 'Ada, book club');
      await world.identify(named('Ada K.'));
      t.equal(await name(), 'Ada K.');
      const [{ id }] = (await world.contacts()) as [Contact];
      await world.change(id, { name: 'Mum', nameSet: true });
      await world.write('e', named('Ada M.'));
      await world.identify(named('Ada M.'));
      t.equal(await name(), 'Mum');
    });

    for (const which of [0, 1] as const) {
      t.test(`a name that was set through the API outlives the other: ${which}`, async (t) => {
        const world = await open();
        await world.write('a', { ...number, name: 'Ada' });
        await world.write('b', { ...hiddenId, name: 'Lovelace' });
        const pair = await two(world);
        await world.change(pair[which].id, { name: 'Mum', nameSet: true });
        await world.identify({ ...both, name: 'Ada M.' });
        t.match(await world.contacts(), [{ name: 'Mum' }]);
        await world.write('c', { ...both, name: 'Ada N.' });
        t.match(await world.contacts(), [{ name: 'Mum' }]);
      });
    }

    t.test('an address book of which everybody turns out to be two', async (t) => {
      const world = await open();
      world.one.connectOptions = { ...noOptions, importContacts: true };
      const count = 400;
      const numbers = Array.from({ length: count }, (_, n) => `+1202${5_000_000 + n}`);
      const take = (contacts: readonly DriverContact[]) =>
        stage.part.receive(world.one, { type: 'contacts', contacts });
      await take(numbers.map((phone) => ({ phone, networkId: null, name: null })));
      await take(numbers.map((_, n) => ({ phone: null, networkId: `h${n}`, name: `name ${n}` })));
      const rows = () => connections.read('contacts').where('tenant_id', world.tenantId);
      t.equal((await rows()).length, 2 * count);
      await take(numbers.map((phone, n) => ({ phone, networkId: `h${n}`, name: null })));
      const left: { phone: string; network_id: string; name: string }[] = await rows();
      t.equal(left.length, count);
      t.ok(left.every(({ phone, network_id, name }) => phone && network_id && name));
    });
  });
}

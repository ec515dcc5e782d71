import t from 'tap';
import { makeChangeLane } from '../../../../plugins/contacts/change.ts';
import { ArrivalLine } from '../../../../plugins/messages/receive/arrival-line.ts';
import type { SendInput } from '../../../../plugins/messages/send/input.ts';
import { KnownContacts } from '../../../../plugins/messages/send/known-contacts.ts';
import { SendingTable } from '../../../../plugins/messages/tables/sending.ts';
import type { SendingFacts } from '../../../../plugins/messages/tables/sending-rows.ts';
import { databases } from '../../../harness/databases.ts';
import { codeOf, forgetContact, inbound, makeTenant, openStage, type Stage } from '../stage.ts';

const phone = '+12025550123';

function send(changes: Partial<SendInput> = {}): SendInput {
  const body = { text: 'Hello', media: null, idempotency: null };
  return {
    id: 'msg_1',
    tenantId: 'ten_1',
    accountId: 'acc_1',
    contactId: null,
    phone,
    ...body,
    ...changes,
  };
}

function factsOf(contactsAt: string, changes: Partial<SendingFacts> = {}): SendingFacts {
  const count = { sends: 0, newContacts: 0 };
  return {
    tenant: { id: 'ten_1', mode: 'test', plan: 'p', status: 'active', ramp: false },
    account: {
      ...{ id: 'acc_1', tenantId: 'ten_1', channel: 'msgapp_web', status: 'connected' },
      ...{ linked: true, rampDayOne: null, sequence: 3 },
    },
    contact: {
      ...{ id: 'con_1', tenantId: 'ten_1', channel: 'msgapp_web', phone, networkId: null },
      ...{ doNotDisturb: false, private: false },
    },
    thread: { accountId: 'acc_1', contactId: 'con_1', openedAt: 1, inboundAt: null },
    ...{ alias: null, busy: false, tenantCount: count, accountCount: count, contactsAt },
    ...changes,
  };
}

t.test('what is recalled', async (t) => {
  let now = 0;
  const known = new KnownContacts(() => now, 2);
  const read = (facts: SendingFacts, ...sends: readonly SendInput[]): void => {
    known.learn(sends, [facts], [], now);
  };
  const recalls = (one = send()): boolean => known.recall(one) !== null;

  t.notOk(recalls(), 'nothing was read yet');
  read(factsOf('0 0'), send());
  t.notOk(recalls(), 'it may change with every send');
  read(factsOf('0 0'), send());
  t.ok(recalls(), 'two reads in a row have found the same');
  const recalled = known.recall(send());
  if (recalled === null) throw new Error('not recalled');
  t.ok(known.isCurrent(recalled, '0 0'));
  t.notOk(known.isCurrent(recalled, '1 0'), 'a contact was changed');
  t.notOk(known.isCurrent(recalled, '0 1'), 'a contact has written');
  for (const [name, one] of Object.entries({
    'another tenant': send({ tenantId: 'ten_2' }),
    'another account': send({ accountId: 'acc_2' }),
    'no account': send({ accountId: null }),
    'another number': send({ phone: '+12025550124' }),
    'an id that was not named': send({ contactId: 'con_1' }),
  })) {
    t.notOk(recalls(one), name);
  }

  read(factsOf('1 0'), send());
  t.notOk(recalls(), 'the contacts have changed');
  read(factsOf('1 0'), send());
  t.ok(recalls());
  now = 60_000;
  known.learn([], [], [factsOf('1 0')], now);
  t.ok(recalls(), 'the next sends read the account only');
  now = 60_001;
  known.learn([], [], [factsOf('1 0')], now);
  t.notOk(recalls(), 'after a minute the contact is read anew');
  read(factsOf('1 0'), send());
  t.ok(recalls());

  const byId = send({ contactId: 'con_1', phone: null });
  for (const [name, facts] of Object.entries({
    'a contact that writes often': factsOf('1 0', { busy: true }),
    'an opener': factsOf('1 0', { thread: null }),
    'an unknown number': factsOf('1 0', { thread: null, contact: null }),
    'an account that is gone': factsOf('1 0', { account: null }),
  })) {
    read(facts, byId);
    t.notOk(recalls(byId), name);
  }
  read(factsOf('1 0'), byId);
  t.ok(recalls(byId), 'by its id');
  t.ok(recalls(), 'and by its number');
  const { account } = factsOf('1 0');
  if (account === null) throw new Error('no account');
  const other = send({ accountId: 'acc_2' });
  read(factsOf('1 0', { account: { ...account, id: 'acc_2' } }), other);
  t.ok(recalls(other));
  t.ok(recalls(byId));
  t.notOk(recalls(), 'the one learned first had to go');
});

/** Counts whom the sends of this process had to look up. */
function countLookUps(t: { teardown(fn: () => void): void }): () => number {
  let count = 0;
  const { facts } = SendingTable.prototype;
  SendingTable.prototype.facts = function (namings, ...rest) {
    count += namings.length;
    return facts.call(this, namings, ...rest);
  };
  t.teardown(() => {
    SendingTable.prototype.facts = facts;
  });
  return () => count;
}

for (const engine of databases) {
  t.test(`what other processes change counts at once, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const options = { loopMessages: 3, plan: { sends_cap: 300 } };
    const first = await openStage(t, database.url, options);
    // SQLite belongs to one process.
    const second = engine.name === 'mariadb' ? await openStage(t, database.url, options) : first;
    const { tenantId, accountIds } = await makeTenant(first, 2);
    const [accountId = '', otherId = ''] = accountIds;
    const lookedUp = countLookUps(t);
    const ask = (changes: Partial<SendInput> = {}) =>
      first.send({ tenantId, accountId, phone, ...changes }).then(codeOf);
    /** Sends until the contact is known; answers whether it gets known at all. */
    const learnt = async (): Promise<boolean> => {
      for (let n = 0; n < 4; n += 1) {
        const before = lookedUp();
        t.equal(await ask(), 'accepted');
        if (lookedUp() === before) return true;
      }
      return false;
    };
    const change = changesOf(second);

    t.ok(await learnt(), 'a contact is remembered');
    const [contact] = await first.storage.read.contacts.list(tenantId, {
      ...{ channel: null, phone: null, before: null, limit: 2 },
    });
    const contactId = contact?.id ?? '';
    t.equal(await ask({ contactId, phone: null }), 'accepted', 'by its id');
    t.equal(await ask({ contactId, phone }), 'accepted', 'by both');
    const wrong = { contactId, phone: '+12025550199' };
    t.equal(await ask(wrong), 'invalid_request', 'by both, which differ');

    await change({ tenantId, id: contactId, changes: { doNotDisturb: true } });
    t.equal(await ask(), 'contact_do_not_disturb');
    await change({ tenantId, id: contactId, changes: { doNotDisturb: false } });
    t.ok(await learnt());
    await change({ tenantId, id: contactId, changes: { private: true } });
    t.equal(await ask(), 'contact_private');
    await change({ tenantId, id: contactId, changes: { private: false } });

    t.ok(await learnt());
    const fence = { accountId, owner: first.broker.processId, number: 1 };
    for (const networkId of ['a', 'b', 'c']) {
      const event = inbound(networkId);
      const line = new ArrivalLine();
      line.enter(event);
      const arrival = { channel: 'msgapp_web', line, event, taken: null } as const;
      t.equal(await second.lanes.receive({ fence, tenantId, ...arrival }), 'stored');
    }
    t.equal(await ask(), 'loop_guard', 'it has written meanwhile');

    const friend = '+12025550124';
    const toFriend = async (stage: Stage, id = accountId) =>
      codeOf(await stage.send({ tenantId, accountId: id, phone: friend }));
    for (let n = 0; n < 3; n += 1) await toFriend(first);
    const stranger = await makeTenant(first);
    const strange = { tenantId: stranger.tenantId, accountId, phone: friend };
    t.equal(codeOf(await first.send(strange)), 'account_not_found', "another tenant's account");
    t.equal(await toFriend(first, otherId), 'accepted', 'from another account: an opener');

    const before = lookedUp();
    const { sends = 0 } = (await usage(first, tenantId))[0] ?? {};
    const many = await Promise.all(
      Array.from({ length: 400 }, (_, n) => toFriend(n % 2 === 0 ? first : second)),
    );
    t.equal(many.filter((code) => code === 'accepted').length, 300 - sends, 'the cap is exact');
    const unknowing = second === first ? 0 : 200;
    t.ok(lookedUp() - before <= unknowing, 'and the first did not look the contact up');
    t.match(await usage(first, tenantId), [{ sends: 300 }]);
    const messages = await first.storage.read.messages.list(tenantId, {
      ...{ direction: 'outbound', accountId, before: null, limit: 500 },
    });
    const numbers = messages.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b);
    t.same(numbers, [...new Set(numbers)], 'no number twice');

    await second.run((unit) => unit.accounts.remove([accountId], unit.now));
    t.equal(await toFriend(first), 'account_not_found');
  });

  t.test(`after a change is answered no send passes it, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const first = await openStage(t, database.url);
    const second = engine.name === 'mariadb' ? await openStage(t, database.url) : first;
    const { tenantId, accountIds } = await makeTenant(first);
    const [accountId = ''] = accountIds;
    const ask = async () => codeOf(await first.send({ tenantId, accountId, phone }));
    await ask();
    const [contact] = await first.storage.read.contacts.list(tenantId, {
      ...{ channel: null, phone: null, before: null, limit: 1 },
    });
    const change = changesOf(second);
    let wrong = 0;
    for (let round = 0; round < 20; round += 1) {
      const doNotDisturb = round % 2 === 0;
      const sending = Array.from({ length: 20 }, ask);
      await change({ tenantId, id: contact?.id ?? '', changes: { doNotDisturb } });
      const expected = doNotDisturb ? 'contact_do_not_disturb' : 'accepted';
      const later = await Promise.all([ask(), ask(), ask()]);
      wrong += later.filter((code) => code !== expected).length;
      await Promise.all(sending);
    }
    t.equal(wrong, 0);
  });

  t.test(`of two tenants in one batch what holds for one, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const stage = await openStage(t, database.url);
    const tenants = [await makeTenant(stage), await makeTenant(stage)];
    const batch = () =>
      Promise.all(
        [...tenants, ...tenants].map(async ({ tenantId, accountIds: [accountId = ''] }) =>
          codeOf(await stage.send({ tenantId, accountId, phone })),
        ),
      );
    const lookedUp = countLookUps(t);
    for (let n = 0; n < 3; n += 1) await batch();
    const before = lookedUp();
    t.same(await batch(), ['accepted', 'accepted', 'accepted', 'accepted']);
    t.equal(lookedUp(), before, 'both are remembered');
    const [first] = tenants;
    const [contact] = await stage.storage.read.contacts.list(first?.tenantId ?? '', {
      ...{ channel: null, phone: null, before: null, limit: 1 },
    });
    const changed = { tenantId: first?.tenantId ?? '', id: contact?.id ?? '' };
    await changesOf(stage)({ ...changed, changes: { doNotDisturb: true } });
    const refused = 'contact_do_not_disturb';
    t.same(await batch(), [refused, 'accepted', refused, 'accepted']);
    t.equal(lookedUp(), before + 2, 'the other one still is');
    for (const { tenantId, accountIds } of tenants) {
      const messages = await stage.storage.read.messages.list(tenantId, {
        ...{ direction: null, accountId: accountIds[0] ?? '', before: null, limit: 100 },
      });
      const numbers = messages.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b);
      t.same(
        numbers,
        Array.from(numbers, (_, n) => n + 1),
        'numbered without a gap',
      );
    }
  });
}

/** The changes of contacts as one process makes them. */
function changesOf({ storage }: Stage) {
  const lane = makeChangeLane({ forgetContact });
  return (input: Parameters<typeof lane.locks>[0]) => storage.submit(lane, input);
}

function usage({ storage }: Stage, tenantId: string) {
  return storage.read.usage.of([tenantId], [], new Date().toISOString().slice(0, 10));
}

import t from 'tap';
import { GatewayError } from '../../../../core/errors.ts';
import {
  type ContactChangeInput,
  makeContactChangeLane,
} from '../../../../plugins/contacts/change.ts';
import { createContactLane } from '../../../../plugins/contacts/create.ts';
import { ArrivalLine } from '../../../../plugins/messages/receive/arrival-line.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { awaitMidnight } from '../../../harness/midnight.ts';
import { FaultyServer } from '../../storage/faulty-server.ts';
import {
  acceptedId,
  codeOf,
  forgetContact,
  forgetSome,
  makeTenant,
  openStage,
  type Stage,
} from '../stage.ts';

/** How often each code came. */
function tally(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

const phone = (n: number) => `+1202555${String(n).padStart(4, '0')}`;

async function payloads(stage: Stage, tenantId: string): Promise<unknown[]> {
  const rows: { payload: string }[] = await stage.storage.connections.read
    .select('payload')
    .from('events')
    .where('tenant_id', tenantId);
  return rows.map((row) => JSON.parse(row.payload));
}

for (const engine of databases) {
  t.test(`a hundred at once, ${engine.name}`, async (t) => {
    await awaitMidnight();
    const database = await engine.create(t);
    const plan = { sends_cap: 7, new_contacts_cap: 1000 };
    const stages = [await openStage(t, database.url, { plan })];
    // SQLite belongs to one process; a server is decided about by several at once.
    if (engine.name === 'mariadb') stages.push(await openStage(t, database.url, { plan }));
    const [first] = stages as [Stage];
    const at = (n: number) => stages[n % stages.length] ?? first;

    const { tenantId } = await makeTenant(first);
    const sends = Array.from({ length: 100 }, (_, n) => at(n).send({ tenantId, phone: phone(n) }));
    const codes = (await Promise.all(sends)).map(codeOf);
    t.same(tally(codes), { accepted: 7, daily_send_cap: 93 }, 'seven sends left');
    const counters = await first.storage.read.usage.of(
      [tenantId],
      [],
      new Date().toISOString().slice(0, 10),
    );
    t.match(counters, [{ sends: 7, newContacts: 7 }]);
    const events = await payloads(first, tenantId);
    t.equal(events.length, 1, 'one limit event');
    t.match(events[0], { event: 'account.limit_reached', account: { reason: 'daily_send_cap' } });
    const list = await first.storage.read.messages.list(tenantId, {
      direction: null,
      accountId: null,
      before: null,
      limit: 100,
    });
    t.same(list.map((message) => message.sequence).sort(), [1, 2, 3, 4, 5, 6, 7]);
    const contacts = await first.storage.read.contacts.list(tenantId, {
      channel: null,
      phone: null,
      before: null,
      limit: 100,
    });
    t.equal(contacts.length, 7, 'a refused send makes no contact');
  });

  t.test(`new contacts and openers at once, ${engine.name}`, async (t) => {
    await awaitMidnight();
    const database = await engine.create(t);
    const options = { plan: { new_contacts_cap: 7 }, openers: 20 };
    const stages = [await openStage(t, database.url, options)];
    if (engine.name === 'mariadb') stages.push(await openStage(t, database.url, options));
    const [first] = stages as [Stage];
    const at = (n: number) => stages[n % stages.length] ?? first;
    const one = await makeTenant(first);
    const toNew = Array.from({ length: 100 }, (_, n) =>
      at(n).send({ tenantId: one.tenantId, phone: phone(n) }),
    );
    t.same(tally((await Promise.all(toNew)).map(codeOf)), { accepted: 7, new_contact_cap: 93 });

    const two = await makeTenant(first, 2);
    const [account, other] = two.accountIds as [string, string];
    const numbers = Array.from({ length: 7 }, (_, n) => phone(n));
    for (const to of numbers) {
      await first.send({ tenantId: two.tenantId, accountId: account, phone: to });
    }
    // Openers of the other account, to contacts that exist: 40 of 7 phones, 7 threads at most.
    const burst = Array.from({ length: 40 }, (_, n) =>
      at(n).send({ tenantId: two.tenantId, accountId: other, phone: phone(n % 7) }),
    );
    t.same(tally((await Promise.all(burst)).map(codeOf)), { accepted: 40 }, 'one opener a contact');
  });

  t.test(`refused openers add up over batches and processes, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const options = { openers: 2 };
    const stages = [await openStage(t, database.url, options)];
    if (engine.name === 'mariadb') stages.push(await openStage(t, database.url, options));
    const [first] = stages as [Stage];
    const { tenantId, accountIds } = await makeTenant(first);
    for (let n = 0; n < 11; n += 1) {
      await stages[n % stages.length]?.send({ tenantId, phone: phone(n) });
    }
    t.same(first.restricted, [], 'two accepted, nine refused: no restriction yet');
    const tenth = await first.send({ tenantId, phone: phone(99) });
    t.equal(codeOf(tenth), 'opener_burst');
    t.same(first.restricted, accountIds, 'the tenth refusal in ten minutes restricts the account');

    const { read } = first.storage.connections;
    for (let n = 100; n < 130; n += 1) {
      await stages[n % stages.length]?.send({ tenantId, phone: phone(n) });
    }
    const rows = await read('opener_refusals');
    t.ok(rows.length <= 10, `only what counts is kept: ${rows.length}`);
    const restricted = stages.flatMap((stage) => stage.restricted);
    t.equal(restricted.length, 31, 'each further one restricts');
  });

  t.test(`refused openers are not kept where they restrict nothing, ${engine.name}`, async (t) => {
    await awaitMidnight();
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { openers: 2, refusals: 0 });
    const { tenantId } = await makeTenant(stage);
    for (let n = 0; n < 6; n += 1) await stage.send({ tenantId, phone: phone(n) });
    t.same(await stage.storage.connections.read('opener_refusals'), []);
    t.match(await stage.storage.connections.read('refusal_counters'), [{ refusals: 4 }]);
    t.same(stage.restricted, []);
  });

  t.test(`another tenant names the account, ${engine.name}`, async (t) => {
    await awaitMidnight();
    const database = await engine.create(t);
    const plan = { sends_cap: 50, new_contacts_cap: 50, ramp_days: 14 };
    const stage = await openStage(t, database.url, { plan, openers: 0 });
    const { tenantId, accountIds } = await makeTenant(stage);
    const [accountId = ''] = accountIds;
    const stranger = await makeTenant(stage);
    const { write } = stage.storage.connections;
    const today = new Date().toISOString().slice(0, 10);
    await write('tenants').where({ id: tenantId }).update({ ramp: 1 });
    await write('accounts').where({ id: accountId }).update({ ramp_day_one: today });
    const own = (n: number) => stage.send({ tenantId, accountId, phone: phone(n % 5) });
    const foreign = (n: number) =>
      stage.send({ tenantId: stranger.tenantId, accountId, phone: phone(n) });
    const used = await Promise.all(Array.from({ length: 20 }, (_, n) => own(n)));
    t.same(tally(used.map(codeOf)), { accepted: 20 }, 'the first day of the warm-up is used up');
    const mixed = [foreign(90), own(1), foreign(91), own(2), foreign(92)];
    const codes = (await Promise.all(mixed)).map(codeOf);
    t.same(tally(codes), { account_not_found: 3, daily_send_cap: 2 }, 'and stays so');
  });

  t.test(
    `guards forget what lies ahead of a clock that was set back, ${engine.name}`,
    async (t) => {
      const database = await engine.create(t);
      const stage = await openStage(t, database.url, { openers: 2, loopMessages: 1 });
      const { tenantId } = await makeTenant(stage);
      const { write } = stage.storage.connections;
      const send = async (n: number) => codeOf(await stage.send({ tenantId, phone: phone(n) }));
      t.same(
        [await send(0), await send(1), await send(2)],
        ['accepted', 'accepted', 'opener_burst'],
      );
      await write('threads').update({ opened_at: Date.now() + 3_600_000 });
      t.same(
        [await send(2), await send(3), await send(4)],
        ['accepted', 'accepted', 'opener_burst'],
      );
      await write('messages').update({ created_at: Date.now() + 3_600_000 });
      const { id: contact_id } = await write('contacts')
        .where({ phone: phone(2) })
        .first('id');
      const sent = await write('messages').where({ contact_id }).first();
      const numbers = { sequence: null, inbound_sequence: 1 };
      await write('messages').insert({ ...sent, ...numbers, id: 'msg_in', direction: 'inbound' });
      t.equal(await send(2), 'accepted', 'one message each way would be a loop');
      t.equal(await send(2), 'accepted', 'what was received lies ahead still');
      await write('messages')
        .where({ contact_id })
        .update({ created_at: Date.now() - 1_000 });
      t.equal(await send(2), 'loop_guard');
    },
  );

  t.test(`openers, loops and idempotent twins, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const options = { openers: 5, loopMessages: 3 };
    const stages = [await openStage(t, database.url, options)];
    if (engine.name === 'mariadb') stages.push(await openStage(t, database.url, options));
    const [first] = stages as [Stage];
    const at = (n: number) => stages[n % stages.length] ?? first;
    const { tenantId, accountIds } = await makeTenant(first);
    const openers = Array.from({ length: 50 }, (_, n) => at(n).send({ tenantId, phone: phone(n) }));
    t.same(tally((await Promise.all(openers)).map(codeOf)), { accepted: 5, opener_burst: 45 });

    const idempotency = { keyHash: 'a'.repeat(64), bodyHash: 'b'.repeat(64) };
    const known = (
      await first.storage.read.contacts.list(tenantId, {
        channel: null,
        phone: null,
        before: null,
        limit: 1,
      })
    )[0];
    const contactId = known?.id ?? '';
    const twins = await Promise.all(
      Array.from({ length: 20 }, (_, n) => at(n).send({ tenantId, contactId, idempotency })),
    );
    t.equal(new Set(twins.map(acceptedId)).size, 1, 'twins make one message');
    const other = { ...idempotency, bodyHash: 'c'.repeat(64) };
    t.equal(
      codeOf(await first.send({ tenantId, contactId, idempotency: other })),
      'idempotency_conflict',
    );

    // Two outbound so far; three each way refuse the next.
    const accountId = accountIds[0] ?? '';
    const fence = { id: accountId, owner: first.broker.processId, number: 1 };
    for (const networkId of ['a', 'b', 'c']) {
      const from = { phone: known?.phone ?? null, networkId: null, name: 'Ada' };
      const event = { type: 'message', networkId, from, text: 'x', media: null, at: 1 } as const;
      const line = new ArrivalLine();
      line.enter(event);
      const arrival = { channel: 'msgapp_web', line, event, taken: null, trace: null };
      t.equal(await first.lanes.receive({ fence, tenantId, ...arrival }), 'stored');
    }
    t.equal(codeOf(await first.send({ tenantId, contactId })), 'accepted');
    const looped = await first.send({ tenantId, contactId });
    t.equal(codeOf(looped), 'loop_guard');
    const seconds = 'refused' in looped ? (looped.refused.retryAfterS ?? 0) : 0;
    t.ok(seconds > 50 && seconds <= 60, `retry after ${seconds} s`);
  });

  t.test(`the next send goes by what tenant and account are now, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const first = await openStage(t, database.url);
    const second = engine.name === 'mariadb' ? await openStage(t, database.url) : first;
    const { tenantId, accountIds } = await makeTenant(first, 2);
    const [accountId = '', otherId = ''] = accountIds;
    const send = (stage: Stage, id = accountId) => stage.send({ tenantId, accountId: id });
    const begun = await first.storage.now();
    const turns = [first, second, first, first, second, second];
    for (const [n, stage] of turns.entries()) {
      const decision = await send(stage, n % 3 === 0 ? otherId : accountId);
      const found = await first.storage.read.messages.find(tenantId, acceptedId(decision));
      const createdAt = found?.createdAt ?? 0;
      t.ok(createdAt >= begun && createdAt <= (await first.storage.now()), "the database's moment");
      t.match(decision, { accepted: { created_at: new Date(createdAt).toISOString() } });
    }
    const { write } = second.storage.connections;
    for (const [table, change, code] of [
      ['tenants', { status: 'suspended' }, 'account_suspended'],
      ['accounts', { status: 'logged_out', linked: 0 }, 'no_connected_account'],
      ['accounts', { removed_at: 1 }, 'account_not_found'],
    ] as const) {
      t.equal(codeOf(await send(first)), 'accepted');
      const row = write(table).where('id', table === 'tenants' ? tenantId : accountId);
      const [old] = await row.clone().select(Object.keys(change));
      await row.clone().update(change);
      t.equal(codeOf(await send(first)), code, JSON.stringify(change));
      await row.clone().update(old);
    }
    const lone = await makeTenant(first);
    await write('accounts').where('tenant_id', lone.tenantId).update({ status: 'disconnected' });
    t.match(await first.send({ tenantId: lone.tenantId, phone: phone(1) }), {
      refused: { message: `The account ${lone.accountIds[0]} is disconnected.` },
    });
    for (const id of accountIds) {
      const messages = await first.storage.read.messages.list(tenantId, {
        ...{ direction: 'outbound', accountId: id, before: null, limit: 50 },
      });
      const numbers = messages.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b);
      t.same(
        numbers,
        Array.from(numbers, (_, n) => n + 1),
        'numbered without a gap',
      );
    }
  });

  t.test(`contacts by address, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const options = { loopMessages: 1000, openers: 1000 };
    const stages = [await openStage(t, database.url, options)];
    if (engine.name === 'mariadb') stages.push(await openStage(t, database.url, options));
    const [first] = stages as [Stage];
    const { tenantId, accountIds } = await makeTenant(first);
    const { write, read } = first.storage.connections;
    await write('accounts').where('tenant_id', tenantId).update({ channel: 'irc' });
    // In both ways of naming the account, alone and together with others; what an index distinguishes is distinguished.
    const names = ['ben', 'Ben', 'bén', 'ben ', '仲間', '🙂'.repeat(95), 'b'.repeat(190)];
    let turn = 0;
    const send = async (name: string | null, accountId = turn % 3 === 0 ? null : accountIds[0]) => {
      turn += 1;
      const stage = stages[turn % stages.length] ?? first;
      const addresses = new Map(name === null ? [] : [['irc', name]]);
      return codeOf(await stage.send({ tenantId, accountId: accountId ?? null, addresses }));
    };
    for (const name of names) t.equal(await send(name), 'accepted', name);
    const again = await Promise.all([...names, ...names, ...names, null].map((name) => send(name)));
    t.same(tally(again), { accepted: 21, invalid_request: 1 });
    const filter = { channel: null, phone: null, before: null, limit: 50 };
    const contacts = await first.storage.read.contacts.list(tenantId, filter);
    t.same(contacts.map(({ networkId }) => networkId).sort(), [...names].sort(), 'each made once');
    t.ok(contacts.every(({ phone }) => phone === null));
    const counters = () =>
      read.from('usage_counters').where({ tenant_id: tenantId, account_id: '' });
    t.match(await counters(), [{ sends: 28, new_contacts: 7 }]);

    const make = (n: number) =>
      (stages[n % stages.length] ?? first).storage.submit(createContactLane, {
        ...{ tenantId, channel: 'irc', phone: null, networkId: 'cid' },
        name: `${n}`,
      });
    const made = await Promise.all(Array.from({ length: 10 }, (_, n) => make(n)));
    t.equal(made.filter((one) => one?.isNew).length, 1);
    t.equal(new Set(made.map((one) => one?.contact.id)).size, 1);
    t.match(await counters(), [{ new_contacts: 7 }], 'counted when it is written to');
    const toCid = await Promise.all(Array.from({ length: 10 }, () => send('cid')));
    t.same(tally(toCid), { accepted: 10 });
    t.match(await counters(), [{ sends: 38, new_contacts: 8 }], 'once');

    // Nobody finds an erased contact, alone or together with others.
    const [erased = '', kept = ''] = contacts.map(({ id }) => id);
    await first.run((unit) => unit.contacts.erase(erased));
    const to = async (contactId: string) => codeOf(await first.send({ tenantId, contactId }));
    t.equal(await to(erased), 'contact_not_found');
    const both = await Promise.all([...Array.from({ length: 10 }, () => kept), erased].map(to));
    t.same(tally(both), { accepted: 10, contact_not_found: 1 });
  });

  t.test(
    `the statements of a batch are as many as those of one send, ${engine.name}`,
    async (t) => {
      const database = await engine.create(t);
      const stage = await openStage(t, database.url, { loopMessages: 1000, openers: 1000 });
      const tenants = await Promise.all(Array.from({ length: 5 }, () => makeTenant(stage)));
      let statements = 0;
      stage.storage.connections.write.on('query', () => {
        statements += 1;
      });
      const count = async (sends: number): Promise<number> => {
        const before = statements;
        await Promise.all(
          Array.from({ length: sends }, (_, n) =>
            stage.send({ tenantId: tenants[n % 5]?.tenantId ?? '', phone: phone(sends + n) }),
          ),
        );
        return statements - before;
      };
      const one = await count(1);
      const many = await count(120);
      t.ok(one <= 30, `${one} statements for one send`);
      t.ok(many <= one + 2, `${many} statements for 120 sends of five tenants`);
    },
  );

  t.test(
    `a contact's flag binds every send after its change was answered, ${engine.name}`,
    async (t) => {
      const database = await engine.create(t);
      const first = await openStage(t, database.url);
      const second = engine.name === 'mariadb' ? await openStage(t, database.url) : first;
      const changes = makeContactChangeLane({ forgetContact, forgetSome });
      const { tenantId, accountIds } = await makeTenant(first);
      const [accountId = ''] = accountIds;
      const ask = async () => codeOf(await first.send({ tenantId, accountId, phone: phone(1) }));
      await ask();
      const [contact] = await first.storage.read.contacts.list(tenantId, {
        ...{ channel: null, phone: null, before: null, limit: 1 },
      });
      const change = (input: ContactChangeInput) => second.storage.submit(changes, input);
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
    },
  );

  t.test(`what is stored and read back, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { tenantId, accountIds } = await makeTenant(stage, 2);
    const other = await makeTenant(stage);
    const [first, second] = accountIds as [string, string];
    const text = 'Grüße 👋 "quoted"  with spaces at the end  ';
    const media = {
      kind: 'image',
      url: 'https://example.com/a.png',
      mime_type: null,
      file_name: null,
      size: null,
    } as const;
    const id = acceptedId(await stage.send({ tenantId, accountId: first, text, media }));
    t.match(await stage.storage.read.messages.find(tenantId, id), {
      text,
      media,
      status: 'queued',
      direction: 'outbound',
      accountId: first,
      sequence: 1,
      opener: true,
      contact: { phone: '+12025550123', name: '' },
    });
    t.equal(await stage.storage.read.messages.find(other.tenantId, id), null, 'not to another');
    t.equal(codeOf(await stage.send({ tenantId })), 'ambiguous_account');
    t.equal(
      codeOf(await stage.send({ tenantId: other.tenantId, accountId: first })),
      'account_not_found',
    );
    const contactId = (await stage.storage.read.messages.find(tenantId, id))?.contactId ?? '';
    t.equal(codeOf(await stage.send({ tenantId: other.tenantId, contactId })), 'contact_not_found');
    const strange = acceptedId(await stage.send({ tenantId, accountId: second, text: 'a\u0000b' }));
    const stored = await stage.storage.read.messages.find(tenantId, strange);
    t.equal(stored?.text, 'a\ufffdb', 'no database holds a NUL');

    // A page stays what it was while rows arrive.
    for (let n = 0; n < 25; n += 1) {
      await stage.send({ tenantId, accountId: n % 2 === 0 ? first : second, text: `text ${n}` });
    }
    const seen: string[] = [];
    let before: { createdAt: number; id: string } | null = null;
    for (let page = 0; page < 20; page += 1) {
      const rows = await stage.storage.read.messages.list(tenantId, {
        direction: 'outbound',
        accountId: null,
        before,
        limit: 4,
      });
      seen.push(...rows.map((row) => row.text));
      const last = rows.at(-1);
      if (last === undefined) break;
      before = { createdAt: last.createdAt, id: last.id };
      await stage.send({ tenantId, accountId: first, text: 'newer' });
    }
    t.equal(seen.length, 27);
    t.same(
      seen.slice(0, 25),
      Array.from({ length: 25 }, (_, n) => `text ${24 - n}`),
    );
    const filtered = await stage.storage.read.messages.list(tenantId, {
      direction: null,
      accountId: second,
      before: null,
      limit: 100,
    });
    t.equal(filtered.length, 13);
    t.ok(filtered.every((message) => message.accountId === second));
  });
}

t.test('refused sends count once when the answer of their COMMIT is lost', async (t) => {
  const database = await engines.mariadb.create(t);
  const line = await FaultyServer.open(database.url, t);
  const stage = await openStage(t, line.url, { openers: 1 });
  const { tenantId, accountIds } = await makeTenant(stage);
  const { read } = stage.storage.connections;
  const counted = async () => [
    ...(await read('opener_refusals').sum('refusals as refusals')),
    ...(await read('refusal_counters').select('code', 'refusals')),
  ];
  const refused = async (n: number) =>
    t.equal(codeOf(await stage.send({ tenantId, phone: phone(n) })), 'opener_burst');
  acceptedId(await stage.send({ tenantId, phone: phone(0) }));

  for (let n = 1; n < 9; n += 1) await refused(n);
  line.nextCommit = 'lost_after';
  await refused(9);
  t.match(await counted(), [{ refusals: 9 }, { code: 'opener_burst', refusals: 9 }]);
  t.same(stage.restricted, [], 'the tenth restricts');
  line.nextCommit = 'lost_before';
  await refused(10);
  t.match(await counted(), [{ refusals: 9 }, { refusals: 9 }], 'rather too few');
  t.same(stage.restricted, []);
  line.nextCommit = 'lost_after';
  await refused(11);
  t.match(await counted(), [{ refusals: 10 }, { refusals: 10 }]);
  t.same(stage.restricted, accountIds, 'the restriction is begun, too');
});

t.test('a send that is wrong in itself is not among the refused ones of its day', async (t) => {
  const database = await engines.sqlite.create(t);
  const stage = await openStage(t, database.url);
  const { tenantId, accountIds } = await makeTenant(stage, 1, 'irc');
  const code = async (send: Partial<Parameters<Stage['send']>[0]>) =>
    codeOf(await stage.send({ tenantId, ...send }));
  const addresses = new Map<string, string>();
  const fault = new GatewayError('driver_failed');
  t.equal(await code({ addresses, addressFaults: new Map([['irc', fault]]) }), 'driver_failed');
  t.equal(await code({ addresses }), 'invalid_request');
  t.equal(await code({ addresses: new Map([['irc', 'ada']]), phone: phone(1) }), 'invalid_request');
  t.equal(await code({ accountId: 'acc_unknown' }), 'account_not_found');
  t.equal(await code({ contactId: 'con_unknown' }), 'contact_not_found');
  const { read } = stage.storage.connections;
  t.match(await read('refusal_counters').orderBy('code'), [
    { account_id: '', code: 'account_not_found', refusals: 1 },
    { account_id: accountIds[0], code: 'contact_not_found', refusals: 1 },
  ]);
  await stage.run(async (unit) => unit.tenants.change(tenantId, { status: 'deleted' }));
  t.equal(await code({ addresses: new Map([['irc', 'ada']]) }), 'unauthorized');
  t.equal((await read('refusal_counters')).length, 2, 'nor one for a tenant that is deleted');
});

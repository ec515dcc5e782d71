import t from 'tap';
import type { AccountFacts } from '../../../plugins/messages/contract.ts';
import { KnownAccounts } from '../../../plugins/messages/known-accounts.ts';
import { SendingTable } from '../../../plugins/storage/tables/sending.ts';
import { databases } from '../../harness/databases.ts';
import {
  acceptedId,
  codeOf,
  FakeSession,
  makeTenant,
  openStage,
  type Stage,
  startSession,
  until,
} from './stage.ts';

const day = '2026-01-31';

function factsOf(sends: number, changes: Partial<AccountFacts> = {}): AccountFacts {
  return {
    tenant: { id: 'ten_1', mode: 'test', plan: 'p', status: 'active', ramp: false },
    account: {
      ...{ id: 'acc_1', tenantId: 'ten_1', channel: 'msgapp_web', status: 'connected' },
      ...{ linked: true, rampDayOne: null, sequence: sends },
    },
    tenantCount: { sends, newContacts: 0 },
    accountCount: { sends, newContacts: 0 },
    contactsAt: '0 0',
    ...changes,
  };
}

/** What a transaction that found `sends` sends, and accepted one more, has left. */
function oneMore(sends: number, accountId = 'acc_1') {
  const count = { sends: sends + 1, newContacts: 0 };
  return {
    counts: new Map([
      ['ten_1', count],
      [accountId, count],
    ]),
    sequences: new Map([[accountId, sends + 1]]),
  };
}

t.test('what is to be expected', async (t) => {
  const known = new KnownAccounts(2);
  const expected = (ids = ['acc_1'], tenantId = 'ten_1', on = day) =>
    known.expect(tenantId, ids, on);
  t.equal(expected(), null);
  known.learn([factsOf(3)], oneMore(3), day);
  t.equal(expected(), null, 'somebody else may send for the tenant');
  known.learn([factsOf(4)], oneMore(4), day);
  t.same(expected(), [factsOf(5)], 'it was found as it had been left');
  t.equal(expected(['acc_1', 'acc_2']), null, 'an account that is not known');
  t.equal(expected(['acc_1'], 'ten_2'), null, 'another tenant');
  t.equal(expected(['acc_1'], 'ten_1', '2026-02-01'), null, 'another day');

  const [one] = expected() ?? [];
  if (one === undefined) throw new Error('not known');
  Object.assign(one.tenantCount, { sends: 77 });
  Object.assign(one.accountCount, { sends: 77 });
  t.same(expected(), [factsOf(5)], 'who decides on it counts for himself');

  for (const [why, found] of Object.entries({
    'somebody else has sent': factsOf(9),
    'a contact has written': factsOf(5, { contactsAt: '0 1' }),
    'the plan was changed': factsOf(5, { tenant: { ...factsOf(5).tenant, plan: 'q' } }),
  })) {
    const { sends } = found.tenantCount;
    known.learn([found], oneMore(sends), day);
    t.equal(expected(), null, why);
    for (const found of [3, 4]) known.learn([factsOf(found)], oneMore(found), day);
    t.same(expected(), [factsOf(5)]);
  }

  known.doubt('ten_1');
  t.equal(expected(), null, 'it was wrong');
  known.doubt('ten_2');
  const looksUntilSure = (from: number): number => {
    for (let looks = 0; looks < 200; looks += 1) {
      known.learn([factsOf(from + looks)], oneMore(from + looks), day);
      if (expected() !== null) return looks;
    }
    return Number.POSITIVE_INFINITY;
  };
  t.equal(looksUntilSure(90), 2, 'twice as many as before');
  known.doubt('ten_1');
  t.equal(looksUntilSure(190), 4);
  for (let n = 0; n < 9; n += 1) known.doubt('ten_1');
  t.equal(looksUntilSure(290), 64, 'and no more than that');
  for (let n = 0; n < 70; n += 1) known.learn([factsOf(355 + n)], oneMore(355 + n), day);
  known.doubt('ten_1');
  t.equal(looksUntilSure(590), 2, 'trust comes back');
  known.learn([], oneMore(593), day);
  t.equal(expected(), null, 'sent from, but nothing known of how it was found');
});

/** Counts the sends that were decided on a guess, and those that read. */
function countGuesses(t: { teardown(fn: () => void): void }) {
  const { facts, accounts, expectAccounts } = SendingTable.prototype;
  const counted = { guesses: 0, reads: 0 };
  SendingTable.prototype.facts = function (namings, ...rest) {
    if (namings.length > 0) counted.reads += 1;
    return facts.call(this, namings, ...rest);
  };
  SendingTable.prototype.accounts = function (ids, ...rest) {
    if (ids.length > 0) counted.reads += 1;
    return accounts.call(this, ids, ...rest);
  };
  SendingTable.prototype.expectAccounts = function (...expected) {
    counted.guesses += 1;
    return expectAccounts.apply(this, expected);
  };
  t.teardown(() => {
    Object.assign(SendingTable.prototype, { facts, accounts, expectAccounts });
  });
  return counted;
}

for (const engine of databases) {
  t.test(`sends on guesses, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const options = { plan: { sends_cap: 100 } };
    const first = await openStage(t, database.url, options);
    const guesses = engine.name === 'mariadb';
    const second = guesses ? await openStage(t, database.url, options) : first;
    const { tenantId, accountIds } = await makeTenant(first, 2);
    const [accountId = '', otherId = ''] = accountIds;
    const counted = countGuesses(t);
    const send = (stage: Stage, id = accountId) => stage.send({ tenantId, accountId: id });
    /** Sends until nothing is read; answers whether it comes to that. */
    const steady = async (id = accountId): Promise<boolean> => {
      for (let n = 0; n < 6; n += 1) {
        const { reads } = counted;
        t.equal(codeOf(await send(first, id)), 'accepted');
        if (counted.reads === reads) return true;
      }
      return false;
    };
    t.equal(await steady(), guesses, 'where the database can, nothing is read');
    t.equal(await steady(otherId), guesses, 'from another account');
    const before = await first.storage.now();
    const { reads } = counted;
    const together = await Promise.all(
      [accountId, otherId, accountId, otherId].map((id) => send(first, id)),
    );
    if (guesses) t.equal(counted.reads, reads, 'from both at once');
    const after = await first.storage.now();
    for (const decision of together) {
      const found = await first.storage.read.messages.find(tenantId, acceptedId(decision));
      if (!('accepted' in decision)) throw new Error('refused');
      const at = found?.createdAt ?? 0;
      t.ok(at >= before && at <= after, 'stored with the moment of the database');
      t.equal(decision.accepted.created_at, new Date(at).toISOString(), 'and answered with it');
    }
    const idempotency = { keyHash: 'a'.repeat(64), bodyHash: 'b'.repeat(64) };
    const kept = await first.send({ tenantId, accountId, idempotency });
    t.same(await first.send({ tenantId, accountId, idempotency }), kept, 'the same answer');

    for (const stage of [second, first, second, second, first]) {
      t.equal(codeOf(await send(stage)), 'accepted', 'in turns with another process');
    }
    const { write } = second.storage.connections;
    const changed = async (table: string, change: Record<string, unknown>, code: string) => {
      if (guesses) t.ok(await steady());
      const row = write(table).where('id', table === 'tenants' ? tenantId : accountId);
      const [old] = await row.clone().select(Object.keys(change));
      await row.clone().update(change);
      t.equal(codeOf(await send(first)), code, JSON.stringify(change));
      await row.clone().update(old);
    };
    await changed('tenants', { status: 'suspended' }, 'account_suspended');
    await changed('accounts', { status: 'logged_out', linked: 0 }, 'no_connected_account');
    await changed('accounts', { removed_at: 1 }, 'account_not_found');

    const [{ sends = 0 } = {}] = await first.storage.read.usage.of([tenantId], [], today());
    const codes = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const stage = n % 2 === 0 ? first : second;
        return codeOf(await send(stage, n % 3 === 0 ? otherId : accountId));
      }),
    );
    t.equal(codes.filter((code) => code === 'accepted').length, 100 - sends, 'the cap is exact');
    t.equal(codeOf(await send(first)), 'daily_send_cap');
    for (const id of accountIds) {
      const messages = await first.storage.read.messages.list(tenantId, {
        ...{ direction: 'outbound', accountId: id, before: null, limit: 200 },
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

t.test('sends on guesses that their sessions take at once', async (t) => {
  const database = await databases.find(({ name }) => name === 'mariadb')?.create();
  if (database === undefined) throw new Error('there is no MariaDB');
  t.teardown(() => database.drop());
  const stage = await openStage(t, database.url);
  const { tenantId, accountIds } = await makeTenant(stage, 2);
  const { processId } = stage.broker;
  const sessions = accountIds.map((id) => new FakeSession(tenantId, id, processId));
  for (const session of sessions) await startSession(t, stage, session);
  const counted = countGuesses(t);
  const idle = async (): Promise<void> => {
    for (const id of accountIds) await until('the session to be idle', () => stage.idle(id));
  };
  /** Sends from both accounts at once; answers the messages as they were accepted. */
  const send = async () => {
    const ids = await Promise.all(
      accountIds.map(async (accountId) => acceptedId(await stage.send({ tenantId, accountId }))),
    );
    return await Promise.all(ids.map((id) => stage.storage.read.messages.find(tenantId, id)));
  };
  for (let n = 0; n < 3; n += 1) {
    await send();
    await idle();
  }
  const { guesses, reads } = counted;
  for (let n = 0; n < 5; n += 1) {
    for (const message of await send()) {
      t.equal(message?.attempts, 1);
      t.equal(message?.dispatchedAt, message?.createdAt, 'the intent has the same moment');
    }
    await idle();
  }
  t.equal(counted.reads, reads, 'nothing was read');
  t.ok(counted.guesses - guesses >= 5);
  for (const { handed, taken } of sessions) t.same([handed.length, taken.length], [8, 8], 'once');

  const [lost = '', kept = ''] = accountIds;
  await stage.run((unit) => unit.leases.take([lost], 'other', unit.now + 9_000));
  const [queued, going] = await send();
  t.match(queued, { accountId: lost, attempts: 0, dispatchedAt: null }, 'its lease is lost');
  t.match(going, { accountId: kept, attempts: 1 });
  t.ok(counted.reads > reads, 'it was not as expected');
  t.equal(sessions[0]?.handed.length, 8);
});

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

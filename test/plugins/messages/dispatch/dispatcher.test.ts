import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DriverError, type ReceiptEvent, type Sent } from '../../../../core/contracts/driver.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { createLog } from '../../../../core/log.ts';
import {
  Dispatcher,
  type DispatcherParts,
} from '../../../../plugins/messages/dispatch/dispatcher.ts';
import { unpaced } from '../../../../plugins/messages/dispatch/pace.ts';
import type {
  MessageStatus,
  MessageWithContact,
} from '../../../../plugins/messages/tables/message-rows.ts';
import { databases } from '../../../harness/databases.ts';
import { doneWithin } from '../../../harness/times.ts';
import {
  acceptedId,
  FakeSession,
  makeTenant,
  openStage,
  type Stage,
  startSession,
  until,
} from '../stage.ts';

const never = (): Promise<never> => new Promise(() => undefined);

async function message(stage: Stage, tenantId: string, id: string): Promise<MessageWithContact> {
  const found = await stage.storage.read.messages.find(tenantId, id);
  if (found === null) throw new Error(`no message ${id}`);
  return found;
}

async function reaches(stage: Stage, tenantId: string, id: string, status: MessageStatus) {
  return until(`${id} to be ${status}`, async () => {
    const found = await message(stage, tenantId, id);
    return found.status === status ? found : undefined;
  });
}

async function eventsOf(stage: Stage, subject: string): Promise<string[]> {
  const rows: { type: string }[] = await stage.storage.connections.read
    .select('type')
    .from('events')
    .where('subject', subject)
    .orderBy('id');
  return rows.map((row) => row.type);
}

t.test('which message a session would hand over at once', async (t) => {
  const session = new FakeSession('ten', 'acc', 'process');
  const queued = [{ id: 'msg', sequence: 3, contactId: 'con', mediaUrl: null }];
  const queuedMessages = { queuedOf: async () => queued.splice(0) };
  const dispatcher = new Dispatcher(session, {
    read: { queuedMessages } as unknown as DispatcherParts['read'],
    step: async () => ({ held: true, next: [null], left: [] }),
    ...{ pace: unpaced, announce: () => undefined },
    log: createLog('silent'),
  });
  t.equal(dispatcher.idle()?.next ?? null, null, 'nothing is known of the queue');
  dispatcher.ready();
  t.equal(dispatcher.idle()?.next ?? null, null, 'it is being read');
  await dispatcher.closed();
  t.equal(dispatcher.idle()?.next ?? null, 4);
  const { capabilities } = session;
  for (const change of [
    { connected: false },
    { restriction: 'new_contacts' },
    { capabilities: { ...capabilities, deduplicates: false } },
  ] as const) {
    Object.assign(session, change);
    t.equal(dispatcher.idle()?.next ?? null, null, JSON.stringify(change));
    Object.assign(session, { connected: true, restriction: null, capabilities });
  }
  t.equal(dispatcher.idle()?.next ?? null, 4);
});

for (const engine of databases) {
  t.test(`dispatching, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const owner = stage.broker.processId;
    const open = async (accountId: string, tenantId: string, number = 1) =>
      startSession(t, stage, new FakeSession(tenantId, accountId, owner, number));
    const account = async (): Promise<{ tenantId: string; accountId: string }> => {
      const { tenantId, accountIds } = await makeTenant(stage);
      return { tenantId, accountId: accountIds[0] ?? '' };
    };

    t.test('without the broker in the process that holds the session', async (t) => {
      const unreliable = { drop: 1, repeat: 0, reorder: 0, delayMs: 0 };
      const deaf = await openStage(t, database.url, { unreliable });
      const { tenantId, accountIds } = await makeTenant(deaf);
      const session = new FakeSession(tenantId, accountIds[0] ?? '', deaf.broker.processId);
      await startSession(t, deaf, session);
      const first = acceptedId(await deaf.send({ tenantId }));
      await reaches(deaf, tenantId, first, 'sent');
      session.connected = false;
      const second = acceptedId(await deaf.send({ tenantId }));
      session.connected = true;
      deaf.part.ready(session);
      await reaches(deaf, tenantId, second, 'sent');
      t.same(session.taken, [first, second]);
    });

    t.test('in order, whatever the broker loses, repeats or reorders', async (t) => {
      const unreliable = { drop: 0.2, repeat: 0.2, reorder: 0.2, delayMs: 20 };
      const shaky = await openStage(t, database.url, { unreliable, viaBroker: true });
      const { tenantId, accountIds } = await makeTenant(shaky, 3);
      const sessions = accountIds.map(
        (id) => new FakeSession(tenantId, id, shaky.broker.processId),
      );
      for (const session of sessions) await startSession(t, shaky, session);
      const expected = new Map<string, string[]>(accountIds.map((id) => [id, []]));
      for (let round = 0; round < 15; round += 1) {
        const sends = accountIds.flatMap((accountId) =>
          Array.from({ length: 4 }, () => shaky.send({ tenantId, accountId })),
        );
        for (const decision of await Promise.all(sends)) {
          if (!('accepted' in decision)) throw decision.refused;
          expected.get(decision.accepted.account_id)?.push(decision.accepted.id);
        }
        if (round % 5 === 4) shaky.part.sweep();
      }
      for (const session of sessions) {
        const ids = expected.get(session.account.id) ?? [];
        await until('all to be taken', () => {
          shaky.part.sweep();
          return session.taken.length >= ids.length;
        });
        t.same(session.taken, ids);
        t.equal(session.handed.length, ids.length, 'each was handed over once');
        t.ok(session.handed.every((one) => one.attempt === 1));
        const last = await reaches(shaky, tenantId, ids.at(-1) ?? '', 'sent');
        t.match(last, { networkId: `net-${last.id}`, attempts: 1, error: null });
      }
    });

    t.test('what was queued before the session opened is sent', async (t) => {
      const { tenantId, accountId } = await account();
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1)
        ids.push(acceptedId(await stage.send({ tenantId, accountId })));
      const session = await open(accountId, tenantId);
      await reaches(stage, tenantId, ids[2] ?? '', 'sent');
      t.same(session.taken, ids);
      t.same(await eventsOf(stage, ids[0] ?? ''), ['message.sent']);
      t.match(session.handed[0], { to: { phone: '+12025550123' }, text: 'Hello', media: null });
      t.match(await stage.part.sentMessage(session, ids[0] ?? ''), { reference: ids[0] });
      const other = await account();
      const stranger = new FakeSession(other.tenantId, other.accountId, owner);
      t.equal(await stage.part.sentMessage(stranger, ids[0] ?? ''), null);
    });

    t.test('an idle session hands over what was accepted with its intent', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const send = async () => acceptedId(await stage.send({ tenantId, accountId }));
      const idle = async (id: string) => {
        await reaches(stage, tenantId, id, 'sent');
        await until('the session to be idle', () => stage.idle(accountId));
      };
      const ids = [await send()];
      await idle(ids[0] ?? '');
      session.answer = never;
      ids.push(...(await Promise.all([send(), send()])));
      await until('one of both to be handed over', () => session.handed.length === 2);
      const [, direct, queued] = await Promise.all(ids.map((id) => message(stage, tenantId, id)));
      t.match(direct, { status: 'queued', attempts: 1, dispatchFence: 1 });
      t.equal(direct?.dispatchedAt, direct?.createdAt, 'in one transaction');
      t.match(queued, { status: 'queued', attempts: 0, dispatchedAt: null }, 'the next one waits');
      session.end();

      const again = await account();
      const other = await open(again.accountId, again.tenantId);
      const sendAgain = async () => acceptedId(await stage.send(again));
      await reaches(stage, again.tenantId, await sendAgain(), 'sent');
      await until('the session to be idle', () => stage.idle(again.accountId));
      const changes = [{ connected: false }, { restriction: 'all' }] as const;
      for (const [n, change] of changes.entries()) {
        other.mayAct = () => {
          queueMicrotask(() => Object.assign(other, change));
          return true;
        };
        const changed = await sendAgain();
        const isBack = async () => (await message(stage, again.tenantId, changed)).attempts === 0;
        await until(`the intent to be taken back: ${JSON.stringify(change)}`, isBack);
        t.equal((await message(stage, again.tenantId, changed)).dispatchedAt, null);
        t.equal(other.handed.length, n + 1, 'the network was not asked');
        other.mayAct = () => true;
        Object.assign(other, { connected: true, restriction: null });
        stage.part.ready(other);
        await reaches(stage, again.tenantId, changed, 'sent');
        await until('the session to be idle', () => stage.idle(again.accountId));
        t.same([other.handed.length, other.handed[n + 1]?.attempt], [n + 2, 1]);
      }

      if (engine.name === 'mariadb') {
        const beside = await stage.run(async (unit) => {
          await unit.leases.rows.lockFree([other.fence]);
          const id = await sendAgain();
          const { attempts } = await message(stage, again.tenantId, id);
          t.equal(attempts, 0, 'where somebody has locked the lease nobody waits for it');
          return id;
        });
        await reaches(stage, again.tenantId, beside, 'sent');
        await until('the session to be idle', () => stage.idle(again.accountId));
      }
      const handed = other.handed.length;

      await stage.run((unit) =>
        unit.leases.take([again.accountId], 'other', unit.now + 9000, 9000),
      );
      const late = await sendAgain();
      stage.part.sweep();
      t.equal((await message(stage, again.tenantId, late)).dispatchedAt, null, 'its lease is lost');
      t.equal(other.handed.length, handed);
    });

    t.test('a process that dies between intent and outcome', async (t) => {
      for (const deduplicates of [true, false]) {
        const { tenantId, accountId } = await account();
        const first = new FakeSession(tenantId, accountId, owner);
        first.capabilities = { ...first.capabilities, deduplicates };
        first.answer = (one) => {
          first.take(one);
          return never();
        };
        await startSession(t, stage, first);
        const ids = [
          acceptedId(await stage.send({ tenantId, accountId })),
          acceptedId(await stage.send({ tenantId, accountId })),
        ] as const;
        await until('the first to be handed over', () => first.handed.length === 1);
        t.match(await message(stage, tenantId, ids[0]), { status: 'queued', attempts: 1 });
        first.end();
        await stage.part.closed(first);
        t.equal((await message(stage, tenantId, ids[0])).status, 'queued');

        await stage.run((unit) => unit.leases.take([accountId], owner, unit.now + 9000, 9000));
        const second = new FakeSession(tenantId, accountId, owner, 2);
        second.capabilities = first.capabilities;
        await startSession(t, stage, second);
        await reaches(stage, tenantId, ids[1], 'sent');
        const repeated = await message(stage, tenantId, ids[0]);
        if (deduplicates) {
          t.match(repeated, { status: 'sent', attempts: 2, dispatchFence: 2 });
          t.same(
            second.handed.map((one) => [one.reference, one.attempt]),
            [
              [ids[0], 2],
              [ids[1], 1],
            ],
          );
        } else {
          t.equal(repeated.status, 'failed');
          t.match(repeated.error, /^delivery_uncertain: /);
          t.same(second.taken, [ids[1]]);
          t.same(await eventsOf(stage, ids[0]), ['message.failed']);
        }
      }
    });

    t.test('what was confirmed in an outage of the database is stored after it', async (t) => {
      const cut = await openStage(t, database.url);
      const { lanes } = cut;
      const { dispatch } = lanes;
      let refused: number | null = null;
      lanes.dispatch = (...step) => {
        if (refused === null) return dispatch(...step);
        refused += 1;
        return Promise.reject(new GatewayError('unavailable'));
      };
      const { tenantId, accountIds } = await makeTenant(cut, 2);
      const taken = await Promise.all(
        accountIds.map(async (accountId) => {
          const session = new FakeSession(tenantId, accountId, cut.broker.processId);
          session.capabilities = { ...session.capabilities, deduplicates: false };
          let answer = (): void => undefined;
          session.answer = (one) =>
            new Promise((resolve) => {
              answer = () => resolve(session.take(one));
            });
          await startSession(t, cut, session);
          const id = acceptedId(await cut.send({ tenantId, accountId }));
          await until('it to be handed over', () => session.handed.length === 1);
          return { id, session, answer: () => answer() };
        }),
      );
      refused = 0;
      for (const { answer } of taken) answer();
      await until('both outcomes to be refused', () => (refused ?? 0) >= 2);
      for (const { session } of taken) session.end();
      const closed = taken.map(({ session }) => cut.part.closed(session));
      await sleep(2_500);
      const lost = accountIds[1] ?? '';
      await cut.run((unit) => unit.leases.take([lost], 'another', unit.now + 9_000, 9_000));
      refused = null;
      await Promise.all(closed);
      const statuses = taken.map(async ({ id }) => (await message(cut, tenantId, id)).status);
      const told = ['sent', 'queued'];
      t.same(await Promise.all(statuses), told, 'stored under the lease, and by nobody else');
    });

    t.test('a session that lost its lease sends and stores nothing', async (t) => {
      const { tenantId, accountId } = await account();
      await stage.run((unit) => unit.leases.take([accountId], 'another', unit.now + 9000, 9000));
      const id = acceptedId(await stage.send({ tenantId, accountId }));
      const stale = await open(accountId, tenantId, 1);
      stage.part.sweep();
      const receipt = {
        type: 'receipt',
        reference: id,
        networkId: null,
        status: 'read',
        error: null,
        at: Date.now(),
      } as const;
      await t.rejects(
        stage.part.receive(stale, { type: 'receipts', receipts: [receipt] }),
        /has lost its account/,
      );
      t.equal(stale.handed.length, 0);
      t.match(await message(stage, tenantId, id), { status: 'queued', dispatchedAt: null });
    });

    t.test('refusals of the network', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const answers = [
        new DriverError('no_such_number', 'nobody has this number', { certain: true }),
        new DriverError('busy', 'later', { certain: true, retryAfterMs: 30 }),
        new DriverError('timeout', 'no answer', { certain: false }),
        new TypeError('a bug of the driver'),
      ];
      session.answer = async (one) => {
        const error = answers.shift();
        if (error !== undefined) throw error;
        return session.take(one);
      };
      const refused = acceptedId(await stage.send({ tenantId, accountId }));
      const later = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, refused, 'failed');
      t.equal(
        (await message(stage, tenantId, refused)).error,
        'no_such_number: nobody has this number',
      );
      const sent = await reaches(stage, tenantId, later, 'sent');
      t.equal(sent.attempts, 3, 'the certain try does not count');
      t.same(
        session.handed.map((one) => one.attempt),
        [1, 1, 1, 2, 3],
      );
      t.same(session.taken, [later]);
    });

    t.test('answers that the database refuses', async (t) => {
      const { tenantId, accountId } = await account();
      const session = new FakeSession(tenantId, accountId, owner);
      session.capabilities = { ...session.capabilities, window: 8 };
      session.connected = false;
      await startSession(t, stage, session);
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        const phone = `+120255502${n.toString().padStart(2, '0')}`;
        ids.push(acceptedId(await stage.send({ tenantId, accountId, phone })));
      }
      session.answer = async (one) => {
        const n = ids.indexOf(one.reference);
        const taken = session.take(one);
        // What a driver in JavaScript may answer.
        if (n === 3) return { at: taken.at } as Sent;
        return n < 3 ? { ...taken, networkId: `the same of ${accountId}` } : taken;
      };
      session.connected = true;
      stage.part.ready(session);
      const sent = [];
      for (const id of ids) sent.push(await reaches(stage, tenantId, id, 'sent'));
      t.equal(session.handed.length, 5, 'each was handed over once');
      t.same(sent.map(({ networkId }) => networkId).slice(3), [null, `net-${ids[4]}`]);
      const named = sent.filter(({ networkId }) => networkId === `the same of ${accountId}`);
      t.equal(named.length, 1, 'one of them has the id');
      const last = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, last, 'sent');
    });

    t.test('pauses that no timer takes', async (t) => {
      for (const [retryAfterMs, concerns] of [
        [2 ** 31, 'contact'],
        [Number.POSITIVE_INFINITY, 'account'],
        [Number.NaN, 'contact'],
        [-1, 'account'],
      ] as const) {
        const { tenantId, accountId } = await account();
        const session = await open(accountId, tenantId);
        session.answer = async (one) => {
          if (session.handed.length > 1) return session.take(one);
          throw new DriverError('wait', 'later', { certain: true, retryAfterMs, concerns });
        };
        const id = acceptedId(await stage.send({ tenantId, accountId }));
        await until('the refusal', () => session.handed.length > 0);
        await new Promise((resolve) => setTimeout(resolve, 100));
        t.equal(session.handed.length, 1, `${retryAfterMs}`);
        if (retryAfterMs > 0) {
          stage.part.ready(session);
          await new Promise((resolve) => setTimeout(resolve, 100));
          t.equal(session.handed.length, 1, 'the session is ready, and the wait is not over');
          session.end();
          await stage.part.closed(session);
          await open(accountId, tenantId);
        }
        await reaches(stage, tenantId, id, 'sent');
      }
    });

    t.test('a drop: the message waits and keeps its place', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      session.connected = false;
      const ids = [
        acceptedId(await stage.send({ tenantId, accountId })),
        acceptedId(await stage.send({ tenantId, accountId })),
      ];
      stage.part.sweep();
      t.equal(session.handed.length, 0);
      session.connected = true;
      stage.part.ready(session);
      await reaches(stage, tenantId, ids[1] ?? '', 'sent');
      t.same(session.taken, ids);
    });

    t.test('restrictions', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const to = (phone: string) => stage.send({ tenantId, accountId, phone });
      const known = acceptedId(await to('+12025550001'));
      await reaches(stage, tenantId, known, 'sent');
      session.restriction = 'all';
      const waiting = acceptedId(await to('+12025550001'));
      const opener = acceptedId(await to('+12025550002'));
      const second = acceptedId(await to('+12025550002'));
      stage.part.sweep();
      t.equal((await message(stage, tenantId, waiting)).status, 'queued');
      session.restriction = 'new_contacts';
      session.restrictionReason = 'blocked_by_msgapp';
      session.restrictedUntil = Date.UTC(2099, 0, 1);
      stage.part.ready(session);
      await reaches(stage, tenantId, waiting, 'sent');
      for (const id of [opener, second]) {
        t.equal(
          (await reaches(stage, tenantId, id, 'failed')).error,
          'blocked_by_msgapp: the network does not let this account write to new contacts until 2099-01-01T00:00:00.000Z',
        );
      }
      session.restriction = null;
      stage.part.ready(session);
      await reaches(stage, tenantId, acceptedId(await to('+12025550002')), 'sent');
    });

    t.test('flags and expiry touch undispatched messages only', async (t) => {
      const expireMs = 60_000;
      const short = await openStage(t, database.url, { expireMs });
      const { tenantId, accountIds } = await makeTenant(short);
      const accountId = accountIds[0] ?? '';
      const session = new FakeSession(tenantId, accountId, short.broker.processId);
      session.answer = never;
      await startSession(t, short, session);
      const hanging = acceptedId(await short.send({ tenantId, accountId }));
      const flagged = acceptedId(await short.send({ tenantId, accountId, phone: '+12025550009' }));
      const old = acceptedId(await short.send({ tenantId, accountId }));
      await until('the first to hang', () => session.handed.length === 1);
      const { write } = short.storage.connections;
      // Not before: the first would expire instead of hanging.
      await write('messages').where({ account_id: accountId }).decrement('created_at', expireMs);
      const { contactId } = await message(short, tenantId, flagged);
      await short.run(async (unit) => {
        const [contact] = await unit.contacts.byIds([contactId]);
        if (contact !== undefined) await unit.contacts.save([{ ...contact, doNotDisturb: true }]);
      });
      await until('the expiry', async () => {
        const before = (await short.storage.now()) - expireMs;
        const ids = await short.storage.read.queuedMessages.accountsToExpire(before, 10);
        for (const id of ids) await short.lanes.expire(id);
        return (await message(short, tenantId, old)).status === 'failed';
      });
      t.match((await message(short, tenantId, old)).error, /^expired: /);
      t.match((await message(short, tenantId, flagged)).error, /^expired: /);
      t.equal((await message(short, tenantId, hanging)).status, 'queued', 'it may arrive yet');
      t.same(await eventsOf(short, old), ['message.failed']);

      // The same checks at the moment of dispatch, without the sweep.
      const two = await makeTenant(stage);
      const account2 = two.accountIds[0] ?? '';
      const dnd = acceptedId(await stage.send({ tenantId: two.tenantId, accountId: account2 }));
      const ofDnd = await message(stage, two.tenantId, dnd);
      await stage.run(async (unit) => {
        const [contact] = await unit.contacts.byIds([ofDnd.contactId]);
        if (contact !== undefined) await unit.contacts.save([{ ...contact, doNotDisturb: true }]);
      });
      const second = await open(account2, two.tenantId);
      t.match(
        (await reaches(stage, two.tenantId, dnd, 'failed')).error,
        /^contact_do_not_disturb: /,
      );
      t.equal(second.handed.length, 0);
    });

    t.test('an account that is removed or logged out', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      session.answer = never;
      const hanging = acceptedId(await stage.send({ tenantId, accountId }));
      const waiting = acceptedId(await stage.send({ tenantId, accountId }));
      await until('the first to hang', () => session.handed.length === 1);
      await stage.run((unit) => stage.part.abandon(unit, accountId, 'logged_out'));
      t.match((await message(stage, tenantId, hanging)).error, /^delivery_uncertain: /);
      t.match((await message(stage, tenantId, waiting)).error, /^logged_out: /);
      t.same(await eventsOf(stage, waiting), ['message.failed']);

      // Accepted while the account was just going: the sweep finds it.
      const late = acceptedId(await stage.send({ tenantId, accountId }));
      session.end();
      await stage.part.closed(session);
      await stage.run((unit) => unit.accounts.remove([accountId], unit.now));
      t.ok((await stage.storage.read.queuedMessages.accountsToExpire(0, 10)).includes(accountId));
      await stage.lanes.expire(accountId);
      t.match((await message(stage, tenantId, late)).error, /^removed: /);
    });

    t.test('what the network answers right before it logs the account out', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      let answer = (): void => undefined;
      session.answer = (one) =>
        new Promise((resolve) => {
          answer = () => resolve(session.take(one));
        });
      const answered = acceptedId(await stage.send({ tenantId, accountId }));
      await until('it to be handed over', () => session.handed.length === 1);
      const waiting = acceptedId(await stage.send({ tenantId, accountId }));
      session.connected = false;
      answer();
      await stage.part.storeAnswers(session);
      await stage.run((unit) => stage.part.abandon(unit, accountId, 'logged_out'));
      t.match(await message(stage, tenantId, answered), { status: 'sent', error: null });
      t.match((await message(stage, tenantId, waiting)).error, /^logged_out: /);
    });

    t.test('receipts', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      let answer = (): void => undefined;
      session.answer = (one) =>
        new Promise((resolve) => {
          answer = () => resolve(session.take(one));
        });
      const receipt = (
        status: ReceiptEvent['status'],
        named: { reference?: string; networkId?: string },
      ): ReceiptEvent => ({
        type: 'receipt',
        reference: named.reference ?? null,
        networkId: named.networkId ?? null,
        status,
        error: null,
        at: Date.now(),
      });
      const reportAll = (receipts: readonly ReceiptEvent[]) =>
        stage.part.receive(session, { type: 'receipts', receipts });
      const report = (...told: Parameters<typeof receipt>) => reportAll([receipt(...told)]);
      const early = acceptedId(await stage.send({ tenantId, accountId }));
      await until('it to be handed over', () => session.handed.length === 1);
      await report('read', { reference: early });
      t.match(await message(stage, tenantId, early), { status: 'queued' });
      let entered = false;
      const byNetworkId = report('delivered', { networkId: `net-${early}` }).then(() => {
        entered = true;
      });
      t.same(await eventsOf(stage, early), []);
      t.equal(entered, false, 'it waits for the answer');
      answer();
      await reaches(stage, tenantId, early, 'read');
      await byNetworkId;
      t.same(await eventsOf(stage, early), ['message.sent', 'message.read']);

      session.answer = async (one) => session.take(one);
      const next = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, next, 'sent');
      await report('delivered', { networkId: `net-${next}` });
      await report('delivered', { reference: next });
      await report('sent', { reference: next });
      await report('failed', { reference: next });
      t.equal((await message(stage, tenantId, next)).status, 'delivered');
      await report('read', { reference: next });
      await report('read', { reference: next });
      t.same(await eventsOf(stage, next), ['message.sent', 'message.delivered', 'message.read']);
      await report('read', { reference: 'msg_unknown' });
      await report('read', { networkId: 'unknown' });

      const last = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, last, 'sent');
      await reportAll([
        receipt('delivered', { reference: 'msg_unknown' }),
        receipt('delivered', { networkId: `net-${last}` }),
        receipt('delivered', { networkId: 'unknown', reference: last }),
        receipt('read', { networkId: `net-${last}`, reference: 'msg_unknown' }),
      ]);
      t.same(await eventsOf(stage, last), ['message.sent', 'message.delivered', 'message.read']);

      const other = await account();
      const stranger = await open(other.accountId, other.tenantId);
      const third = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, third, 'sent');
      const foreign = receipt('failed', { reference: third, networkId: `net-${third}` });
      await stage.part.receive(stranger, { type: 'receipts', receipts: [foreign] });
      t.equal((await message(stage, tenantId, third)).status, 'sent', 'not by another account');

      const payload: { payload: string }[] = await stage.storage.connections.read
        .select('payload')
        .from('events')
        .where({ subject: next, type: 'message.delivered' });
      const found = await message(stage, tenantId, next);
      t.same(JSON.parse(payload[0]?.payload ?? ''), {
        event: 'message.delivered',
        created_at: JSON.parse(payload[0]?.payload ?? '').created_at,
        account_id: accountId,
        channel: 'msgapp_web',
        message: {
          id: next,
          direction: 'outbound',
          text: 'Hello',
          media: null,
          status: 'delivered',
          error: null,
        },
        contact: { id: found.contactId, phone: '+12025550123', name: '' },
      });
    });

    t.test('a receipt between two tries waits for the answer of the repeat', async (t) => {
      for (const between of [
        [],
        [new DriverError('busy', 'later', { certain: true, retryAfterMs: 30 })],
      ]) {
        const { tenantId, accountId } = await account();
        const session = await open(accountId, tenantId);
        const silence = { certain: false, retryAfterMs: 400, concerns: 'contact' } as const;
        const errors = [new DriverError('no_answer', 'silence', silence), ...between];
        const tries = 1 + errors.length;
        session.answer = async (one) => {
          const sent = session.take(one);
          const error = errors.shift();
          if (error !== undefined) throw error;
          return sent;
        };
        const id = acceptedId(await stage.send({ tenantId, accountId }));
        await until('the first try to be over', () => session.handed.length === 1);
        const facts = { status: 'read', error: null, at: Date.now() } as const;
        const read = {
          type: 'receipt',
          reference: null,
          networkId: `net-${id}`,
          ...facts,
        } as const;
        await stage.part.receive(session, { type: 'receipts', receipts: [read] });
        t.match(await message(stage, tenantId, id), { status: 'read', networkId: `net-${id}` });
        t.equal(session.handed.length, tries);
        t.same(await eventsOf(stage, id), ['message.sent', 'message.read']);
      }
    });

    t.test('a receipt does not wait for a message that ends without another try', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const silence = { certain: false, retryAfterMs: 2_000, concerns: 'contact' } as const;
      session.answer = async () => {
        throw new DriverError('no_answer', 'silence', silence);
      };
      const id = acceptedId(await stage.send({ tenantId, accountId }));
      await until('the first try to be over', () => session.handed.length === 1);
      session.answer = never;
      await stage.run((unit) => stage.part.abandon(unit, accountId, 'removed'));
      const facts = { status: 'read', error: null, at: Date.now() } as const;
      const read = { type: 'receipt', reference: null, networkId: 'unknown', ...facts } as const;
      await doneWithin(t, 4_500, 'once its end is known', () =>
        stage.part.receive(session, { type: 'receipts', receipts: [read] }),
      );
      t.match((await message(stage, tenantId, id)).error, /^delivery_uncertain: /);
    });

    t.test('receipts of what the owner wrote on the phone hold up no other', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const known = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, known, 'sent');
      session.answer = never;
      const hanging = acceptedId(await stage.send({ tenantId, accountId }));
      await until('it to be handed over', () => session.handed.at(-1)?.reference === hanging);
      const receipt = (reference: string, networkId: string | null): ReceiptEvent => {
        const facts = { status: 'delivered', error: null, at: Date.now() } as const;
        return { type: 'receipt', reference, networkId, ...facts };
      };
      const receipts = [
        receipt('from the phone', 'from the phone'),
        receipt('from the phone', null),
        receipt(known, known),
      ];
      const title = 'as no answer brings an id that is its reference';
      await doneWithin(t, 2_500, title, () =>
        stage.part.receive(session, { type: 'receipts', receipts }),
      );
      t.equal((await message(stage, tenantId, known)).status, 'delivered');
    });

    t.test('receipts of messages in no row wait together for the send under way', async (t) => {
      const { tenantId, accountId } = await account();
      const session = await open(accountId, tenantId);
      const known = acceptedId(await stage.send({ tenantId, accountId }));
      await reaches(stage, tenantId, known, 'sent');
      let answer = (): void => undefined;
      session.answer = (one) =>
        new Promise((resolve) => {
          answer = () => resolve(session.take(one));
        });
      const slow = acceptedId(await stage.send({ tenantId, accountId }));
      await until('it to be handed over', () => session.handed.at(-1)?.reference === slow);
      const calls = t.capture(stage.lanes, 'receipts', stage.lanes.receipts);
      const names = [...Array.from({ length: 40 }, (_, n) => `phone-${n}`), `net-${slow}`];
      const receipts = [...names, `net-${known}`].map((networkId): ReceiptEvent => {
        const facts = { status: 'read', error: null, at: Date.now() } as const;
        return { type: 'receipt', reference: null, networkId, ...facts };
      });
      const entering = stage.part.receive(session, { type: 'receipts', receipts });
      await reaches(stage, tenantId, known, 'read');
      t.equal((await message(stage, tenantId, slow)).status, 'queued');
      answer();
      await entering;
      t.equal((await message(stage, tenantId, slow)).status, 'read');
      t.equal(calls().length, 2, 'at once, and behind the answer');
    });
  });
}

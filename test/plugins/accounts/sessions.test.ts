import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { causesOf } from '../../../core/causes.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import { systemClock } from '../../../core/contracts/clock.ts';
import type { DriverEvent } from '../../../core/contracts/driver.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { msgappStatus } from '../../../plugins/accounts/connection-status.ts';
import {
  type ConnectInput,
  type ConnectOutput,
  connectLane,
} from '../../../plugins/accounts/lanes/connect.ts';
import { linkLane } from '../../../plugins/accounts/lanes/link.ts';
import { proxyLane } from '../../../plugins/accounts/lanes/proxy.ts';
import { linkLifeMs, linkRestarts } from '../../../plugins/accounts/link-rules.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import { AccountProxies } from '../../../plugins/accounts/proxies.ts';
import { systemTimers, type Timers } from '../../../plugins/accounts/session/timers.ts';
import { restingView } from '../../../plugins/accounts/session/views.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import { databases, storyDatabases } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { inbound, openStage } from '../messages/stage.ts';
import { type ProcessOptions, World } from './world.ts';

type Process = Awaited<ReturnType<World['start']>>;

let numbers = 0;
const newNumber = (): string => `+1555${String(1_000_000 + ++numbers)}`;

const qr: DriverEvent = {
  type: 'step',
  step: { type: 'show_qr', data: 'scan me', token: 'token', expiresAt: 1_800_000_000_000 },
};
const ask = (field: 'code' | 'password'): DriverEvent => ({
  type: 'step',
  step: { type: 'ask', field },
});

// What waits for a time to pass on one database goes on beside the other.
t.jobs = databases.length;
for (const { name, create } of databases) {
  t.test(name, { buffered: true }, async (t) => {
    const database = await create(t);
    // What asks the engine nothing of its own is played on one, as a long story is.
    const story = { skip: !storyDatabases('sqlite').some((one) => one.name === name) };

    /** One process on the database, with one tenant and nothing that earlier tests have left to be held. */
    const begin = async (t: Test, options: ProcessOptions = {}) => {
      const world = await World.open(t, database.url);
      await world.storage.connections.write('leases').delete();
      const process = await world.start(options);
      return { world, process, caller: await world.tenant() };
    };

    /** As `begin`, with a linked account; `tokens` are those that its driver read to log out. */
    const beginLinked = async (t: Test) => {
      const begun = await begin(t);
      const phone = newNumber();
      const { view } = await connect(begun.process, begun.caller, phone);
      const { behaviour, last } = begun.process.driver;
      await last.port.credentials.set({ token: 'abc' });
      await last.state('connected');
      const tokens: unknown[] = [];
      behaviour.logOut = async (session) => {
        tokens.push(await session.port.credentials.get(['token']));
        await session.state('logged_out').catch(() => undefined);
      };
      return { ...begun, phone, view, last, tokens };
    };

    t.test('pairing by QR code', async (t) => {
      const { world, process, caller } = await begin(t);
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      t.match(view, { live: false, step: null, state: { status: 'connecting', linked: false } });
      const { last } = process.driver;
      t.same(last.calls, ['link qr']);
      t.match(last.account, {
        tenantId: caller.tenantId,
        channel: 'msgapp_web',
        identifier: phone,
      });
      await last.emit(qr);
      t.match((await look(process, caller, phone)).step, { type: 'show_qr', data: 'scan me' });
      t.same(await world.events(caller.tenantId), []);
      await last.port.credentials.set({ creds: 'secret', other: 'x' });
      await last.state('connected');
      const after = await look(process, caller, phone);
      t.match(after, { live: true, step: null, state: { status: 'connected', linked: true } });
      t.same(await world.events(caller.tenantId), ['account.connected connected null']);
      const row = await world.row(view.accountId);
      t.match(row, { announced: true, everConnected: true, rampDayOne: /^\d{4}-\d\d-\d\d$/ });
      t.ok(row.connectedAt !== null && row.connectedAt >= row.createdAt);
      t.same(process.listener.calls, ['opened', 'ready']);
      await refused(t, connect(process, caller, phone), 'already_connected');

      await last.state('lost');
      t.equal((await world.row(view.accountId)).status, 'connecting');
      await until('the reconnect', async () => (last.calls.includes('resume') ? true : undefined));
      await until('it to be connected', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      t.equal((await world.events(caller.tenantId)).length, 1, 'a drop raises nothing');

      const statuses: string[] = [];
      process.listener.answering = async () => {
        statuses.push((await world.row(view.accountId)).status);
      };
      await last.state('logged_out');
      t.ok(last.closed);
      t.same(statuses, ['connected'], 'answers of the network are stored before the end');
      t.match(await world.row(view.accountId), { status: 'disconnected', reason: 'logged_out' });
      t.same(await world.credentials(view.accountId), [], 'the credentials are gone');
      t.same(process.listener.abandoned, [[view.accountId, 'logged_out']]);
      t.match(await world.lease(view.accountId), { wanted: false, owner: null });
      t.same((await world.events(caller.tenantId)).slice(1), [
        'account.disconnected disconnected logged_out',
      ]);
      const again = await connect(process, caller, phone);
      t.equal(again.view.accountId, view.accountId, 'a disconnected record keeps its id');
      await process.driver.last.state('connected');
      t.equal((await world.events(caller.tenantId)).at(-1), 'account.connected connected null');
    });

    t.test('a connection that breaks before it is known to stand', story, async (t) => {
      const { world, process, caller } = await begin(t, { reconnectMaxMs: 300 });
      const { driver } = process;
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      // The network is faster than the database.
      await Promise.all([driver.last.state('connected'), driver.last.state('lost')]);
      t.equal((await world.row(view.accountId)).status, 'connecting');
      const session = process.listener.session;
      t.equal(session?.connected, false, 'nothing is handed to it');
      await until('the reconnect', async () => (session?.connected ? true : undefined));
    });

    t.test('steps that ask, wrong values, and the end of the tries', story, async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver } = process;
      driver.behaviour.link = (session) => session.emit(ask('code'));
      driver.behaviour.answer = async (session, field, value) => {
        if (value !== 'right') return 'wrong';
        if (field === 'code') await session.emit(ask('password'));
        else await session.state('connected');
        return 'accepted';
      };
      const phone = newNumber();
      const answer = (field: 'code' | 'password', value: string) =>
        process.connections.answer(caller, 'chatapp', phone, field, value);
      await refused(t, answer('code', 'right'), 'invalid_code');
      const begun = await connect(process, caller, phone, { channel: 'chatapp', method: 'code' });
      t.match(begun.view.step, { type: 'ask', field: 'code' });
      await refused(t, answer('password', 'right'), 'invalid_password');
      await refused(t, answer('code', 'wrong'), 'invalid_code');
      await refused(t, answer('code', ''), 'invalid_code');
      t.match((await answer('code', 'right')).view.step, { field: 'password' });
      t.match((await answer('password', 'right')).view.state, { status: 'connected' });
      await refused(t, answer('code', 'right'), 'invalid_code');

      const other = newNumber();
      const { view } = await connect(process, caller, other, {
        channel: 'chatapp',
        method: 'code',
      });
      for (let tries = 0; tries < 5; tries += 1) {
        const wrong = process.connections.answer(caller, 'chatapp', other, 'code', 'wrong');
        await refused(t, wrong, 'invalid_code');
      }
      t.match(await world.row(view.accountId), { status: 'disconnected', reason: 'login_refused' });
      t.ok(driver.last.closed);
    });

    t.test(
      'a value for a session that may not act is not for the driver to answer',
      story,
      async (t) => {
        const { process, caller } = await begin(t, { channels: ['mail'] });
        const { driver, faults } = process;
        driver.behaviour.link = (session) => session.emit(ask('code'));
        const phone = newNumber();
        const call = { channel: 'mail', method: 'code', waitForStep: true };
        const { view } = await connect(process, caller, phone, call);
        await process.process.host.runner(view.accountId)?.drain();
        const answering = process.connections.answer(caller, 'mail', phone, 'code', '1');
        await refused(t, answering, 'connection_service_unreachable');
        const because = await answering.catch((error: unknown) => causesOf(error));
        t.match(because, new RegExp(`account ${view.accountId}.*: .*not connected`));
        t.same(faults, []);
        t.notOk(driver.last.calls.includes('answer code'));
      },
    );

    t.test('what the store refuses is no fault of a driver that lets it through', async (t) => {
      const { world, process, caller } = await begin(t, { channels: ['mail'] });
      const { driver, faults } = process;
      driver.behaviour.link = (session) => session.emit(ask('code'));
      const call = { channel: 'mail', method: 'code', waitForStep: true };
      for (const [isEmitted, why] of [
        [false, 'lost its lease'],
        [true, 'session is over'],
      ] as const) {
        driver.behaviour.answer = async (session) => {
          const { id } = session.account;
          await world.act((unit) => unit.leases.take([id], 'another', unit.now + 60_000, 60_000));
          if (isEmitted) await session.state('connected');
          else await session.port.credentials.set({ one: '1' });
          return 'accepted';
        };
        const phone = newNumber();
        const { view } = await connect(process, caller, phone, call);
        const answering = process.connections.answer(caller, 'mail', phone, 'code', '1');
        await refused(t, answering, 'connection_service_unreachable');
        const because = await answering.catch((error: unknown) => causesOf(error));
        t.match(because, new RegExp(`account ${view.accountId}.*: .*${why}`));
      }
      t.same(faults, []);
    });

    t.test('a loss after the last code of a pairing begins no new one', story, async (t) => {
      const { world, process, caller } = await begin(t, { pairingTimeoutMs: 10_000 });
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      const { last } = process.driver;
      await last.emit({ type: 'step', step: { type: 'expired' } });
      await last.state('lost');
      const { state, step, retryAt } = await look(process, caller, phone);
      t.match(
        { state, step },
        { state: { status: 'connecting', reason: null }, step: { type: 'expired' } },
      );
      t.equal(retryAt, null, 'nor is one planned');
      await until('the end of the pairing', async () =>
        (await world.row(view.accountId)).status === 'disconnected' ? true : undefined,
      );
      t.equal((await world.row(view.accountId)).reason, 'pairing_timeout');
      t.same(
        last.calls.filter((call) => call.startsWith('link')),
        ['link qr'],
      );
      t.equal(process.driver.last, last);
    });

    t.test('an unfinished pairing is reset, times out, or is refused', async (t) => {
      const { world, process, caller } = await begin(t, { pairingTimeoutMs: 3_000 });
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      const first = process.driver.last;
      const tokens: unknown[] = [];
      process.driver.behaviour.logOut = async (session) => {
        tokens.push(await session.port.credentials.get(['token']));
      };
      await first.port.credentials.set({ token: 'scanned' });
      await connect(process, caller, phone, { method: 'pairing_code', waitForStep: false });
      t.same(first.calls, ['link qr', 'logOut', 'close'], 'a phone may have scanned it');
      t.same(process.driver.last.calls, ['link pairing_code']);
      await t.rejects(first.state('connected'), /over/, 'the old session is not listened to');
      await process.driver.last.emit({ type: 'step', step: { type: 'expired' } });
      t.match(await look(process, caller, phone), { step: { type: 'expired' } });
      await until('the end of the pairing', async () =>
        (await world.row(view.accountId)).status === 'disconnected' ? true : undefined,
      );
      t.equal((await world.row(view.accountId)).reason, 'pairing_timeout');
      const { last } = process.driver;
      await until('the end of the session', async () => last.closed || undefined);
      t.same(last.calls, ['link pairing_code', 'logOut', 'close']);
      t.same(tokens, [{ token: 'scanned' }, {}]);
      t.same(await world.events(caller.tenantId), [], 'it was never connected');
      process.driver.behaviour.link = (session) => session.state('refused');
      const refusedLogin = await connect(process, caller, phone, {
        method: 'code',
        waitForStep: true,
      });
      t.equal(refusedLogin.view.state.reason, 'login_refused');
      for (const state of ['logged_out', 'replaced'] as const) {
        process.driver.behaviour.link = (session) => session.state(state);
        const ended = await connect(process, caller, phone, { waitForStep: true });
        t.match(ended.view, { step: null, state: { status: 'disconnected', reason: state } });
      }
      process.driver.behaviour.link = () => undefined;
      await connect(process, await world.tenant('live'), phone);
      const winner = process.driver.last;
      process.driver.behaviour.link = async (session) => {
        await winner.state('connected');
        await session.state('connected');
      };
      const other = await connect(process, await world.tenant('live'), phone, {
        waitForStep: true,
      });
      t.match(other.view, { accountId: process.driver.last.account.id });
      t.match(other.view.state, { status: 'disconnected', reason: 'conflict' });
    });

    t.test('the account cap counts pairings and what was ever connected', async (t) => {
      const { process, caller } = await begin(t, { accountsCap: 2 });
      const [one, two, three] = [newNumber(), newNumber(), newNumber()];
      await connect(process, caller, one);
      await process.driver.last.state('connected');
      await process.driver.last.state('logged_out');
      await connect(process, caller, two);
      const isFull =
        'The plan has no account left: 2 of 2 are taken, also by those being linked or logged out. Remove one, or change the plan.';
      await t.rejects(connect(process, caller, three), { code: 'account_cap', message: isFull });
      await connect(process, caller, one);
      await process.connections.remove(caller, 'msgapp_web', one);
      await connect(process, caller, three);
      await process.driver.last.state('refused');
      await connect(process, caller, newNumber());
      t.pass('a failed first pairing does not count');
      const many = await begin(t, { accountsCap: 3 });
      const begun = await Promise.allSettled(
        Array.from({ length: 8 }, () => connect(many.process, many.caller, newNumber())),
      );
      t.equal(begun.filter(({ status }) => status === 'fulfilled').length, 3, 'exactly, at once');
    });

    t.test('records of failed first pairings have a cap of their own', async (t) => {
      const { world, process, caller } = await begin(t, { accountsCap: 1 });
      const numbers = Array.from({ length: 101 }, newNumber);
      const [first = ''] = numbers;
      for (const number of numbers) {
        await connect(process, caller, number);
        await process.driver.last.state('refused');
      }
      await t.rejects(connect(process, caller, newNumber()), {
        code: 'account_cap',
        message:
          'There are 101 records of numbers that were never linked, as many as are kept: link one of these, or remove one.',
      });
      const other = await world.tenant(caller.mode);
      await connect(process, other, newNumber());
      await connect(process, caller, first);
      await process.driver.last.state('refused');
      await process.connections.remove(caller, 'msgapp_web', first);
      await connect(process, caller, newNumber());
    });

    t.test('a number belongs to one live tenant', async (t) => {
      const { world, process } = await begin(t);
      const [one, other] = [await world.tenant('live'), await world.tenant('live')];
      const phone = newNumber();
      const first = await connect(process, one, phone);
      const second = await connect(process, other, phone);
      const [firstSession, secondSession] = process.driver.sessions.slice(-2);
      const both = [firstSession?.state('connected'), secondSession?.state('connected')];
      await Promise.allSettled(both);
      const rows = [await world.row(first.view.accountId), await world.row(second.view.accountId)];
      t.same(rows.map((row) => row.status).sort(), ['connected', 'disconnected']);
      const [winner, loser] = rows[0]?.status === 'connected' ? [one, other] : [other, one];
      t.same(await world.events(loser.tenantId), []);
      t.equal((await world.events(winner.tenantId)).length, 1);
      await until('the loser to be logged out', async () =>
        process.driver.sessions.slice(-2).some((session) => session.calls.includes('logOut'))
          ? true
          : undefined,
      );
      await refused(t, connect(process, loser, phone, { forceNew: true }), 'already_connected');
      await connect(process, winner, phone, { forceNew: true });
      t.pass('its own number is taken anew');
      const tests = [await world.tenant('test'), await world.tenant('test')];
      for (const caller of tests) {
        await connect(process, caller, phone);
        await process.driver.last.state('connected');
      }
      t.pass('test tenants have networks of their own');
    });

    t.test('a link of a number of others is undone on the network, also by a repeat', async (t) => {
      const { world, process } = await begin(t, { leaseMs: 4_500 });
      const phone = newNumber();
      await connect(process, await world.tenant('live'), phone);
      const winner = process.driver.last;
      const { view } = await connect(process, await world.tenant('live'), phone);
      await winner.state('connected');
      const { storage } = world;
      const renewed = renewalsOf(storage);
      const submit = storage.submit.bind(storage);
      // The answer of a COMMIT is lost, and its batch repeated once the leases were renewed.
      storage.submit = async (lane, input) => {
        if (lane.name === 'accounts.transition') {
          await submit(lane, input);
          await renewed();
        }
        return submit(lane, input);
      };
      const { last } = process.driver;
      process.driver.behaviour.logOut = async () => {
        await renewed();
        last.calls.push('logged out');
      };
      await last.state('connected').catch(() => undefined);
      await until('the session to be closed', async () => (last.closed ? true : undefined));
      storage.submit = submit;
      t.same(last.calls.slice(-3), ['logOut', 'logged out', 'close']);
      t.match(await world.row(view.accountId), { status: 'disconnected', reason: 'conflict' });
      t.notOk(process.lines.some(({ msg }) => msg.includes('another process')));
    });

    t.test('a removed account is gone, whoever holds its session', async (t) => {
      const { world, process, caller, phone, view, last, tokens } = await beginLinked(t);
      const removed = await process.connections.remove(caller, 'msgapp_web', phone);
      t.equal(removed.identifier, phone);
      t.same(last.calls.slice(-2), ['logOut', 'close']);
      t.same(tokens, [{ token: 'abc' }], 'the driver can still log out');
      t.same(await world.credentials(view.accountId), []);
      await t.rejects(last.port.credentials.set({ token: 'x' }), /over/);
      await refused(
        t,
        process.connections.remove(caller, 'msgapp_web', phone),
        'connection_not_found',
      );
      await refused(t, look(process, caller, phone), 'connection_not_found');
      t.same(process.listener.abandoned, [[view.accountId, 'removed']]);
      t.equal(
        (await world.events(caller.tenantId)).at(-1),
        'account.disconnected disconnected removed',
      );
      const again = await connect(process, caller, phone);
      t.not(again.view.accountId, view.accountId, 'a new record');
    });

    t.test(
      'a removed account logs out, though its status changes before its host hears',
      async (t) => {
        const { world, view, last, tokens } = await beginLinked(t);
        // What a DELETE commits before it tells the host.
        await world.act(async (unit) => {
          await unit.credentials.clear([view.accountId]);
          await unit.accounts.remove([view.accountId], unit.now);
          await unit.leases.revoke([view.accountId]);
        });
        await last.state('lost').catch(() => undefined);
        await until('the session to be closed', async () => (last.closed ? true : undefined));
        t.same(last.calls.slice(-2), ['logOut', 'close']);
        t.same(tokens, [{ token: 'abc' }], 'the driver can still log out');
      },
    );

    t.test('restrictions and their end', async (t) => {
      const { world, process, caller } = await begin(t);
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      const restrict = (scope: 'all' | 'new_contacts', until: number | null) =>
        last.emit({
          type: 'state',
          state: 'restricted',
          scope,
          until,
          reason: 'blocked_by_msgapp',
          detail: 'As the test wants.',
        });
      await restrict('all', null);
      t.match(await world.row(view.accountId), {
        status: 'restricted',
        reason: 'blocked_by_msgapp',
      });
      t.equal(process.listener.session?.restriction, 'all');
      await last.state('unrestricted');
      await restrict('new_contacts', null);
      t.match(await world.row(view.accountId), {
        status: 'connected',
        restriction: 'new_contacts',
      });
      await last.state('unrestricted');
      await restrict('all', Date.now() + 300);
      const connected = async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined;
      await until('the restriction to run out', connected);
      t.ok(await process.accounts.restrictForSafety(view.accountId, Date.now() + 3_000));
      t.notOk(await process.accounts.restrictForSafety(view.accountId, Date.now()), 'once only');
      t.match(await world.row(view.accountId), { status: 'restricted', reason: 'safety_limits' });
      await until('the session to know', async () =>
        process.listener.session?.restrictionReason === 'safety_limits' ? true : undefined,
      );
      await until('the hold to run out', connected);
      t.same(await world.events(caller.tenantId), [
        'account.connected connected null',
        'account.restricted restricted blocked_by_msgapp',
        'account.connected connected null',
        'account.restricted restricted blocked_by_msgapp',
        'account.connected connected null',
        'account.restricted restricted safety_limits',
        'account.connected connected null',
      ]);
    });

    t.test('the hold of the gateway outlasts shorter restrictions of the network', async (t) => {
      const { world, process, caller } = await begin(t);
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      const restrict = (until: number | null) =>
        last.emit({
          ...{ type: 'state', state: 'restricted', scope: 'all', until },
          ...{ reason: 'blocked_by_msgapp', detail: 'As the test wants.' },
        });
      const now = Date.now();
      const heldUntil = now + 3_600_000;
      t.ok(await process.accounts.restrictForSafety(view.accountId, heldUntil));
      const row = () => world.row(view.accountId);
      const held = { status: 'restricted', reason: 'safety_limits', restrictedUntil: heldUntil };
      await restrict(now + 60_000);
      t.match(await row(), held);
      await restrict(null);
      t.match(await row(), { status: 'restricted', reason: 'blocked_by_msgapp' });
      await last.state('unrestricted');
      t.match(await row(), held);
      t.same(await world.events(caller.tenantId), [
        'account.connected connected null',
        'account.restricted restricted safety_limits',
      ]);
    });

    t.test('a restriction of new contacts outlasts the hold of the gateway', async (t) => {
      const { world, process, caller } = await begin(t);
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      const tomorrow = Date.now() + 86_400_000;
      await last.emit({
        ...{ type: 'state', state: 'restricted', scope: 'new_contacts', until: tomorrow },
        ...{ reason: 'blocked_by_msgapp', detail: 'As the test wants.' },
      });
      t.ok(await process.accounts.restrictForSafety(view.accountId, Date.now() + 3_000));
      await until('the hold to run out', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      t.match(await world.row(view.accountId), {
        ...{ restriction: 'new_contacts', restrictedUntil: tomorrow },
        ...{ restrictionReason: 'blocked_by_msgapp', restrictionDetail: 'As the test wants.' },
      });
      await until('the session to know', async () =>
        process.listener.session?.restriction === 'new_contacts' ? true : undefined,
      );
      t.same(await world.events(caller.tenantId), [
        'account.connected connected null',
        'account.restricted restricted safety_limits',
        'account.connected connected null',
      ]);
    });

    t.test('a restriction ends by the clock of the database, with one write', async (t) => {
      const ahead = { ...systemClock, now: () => Date.now() + 3_600_000 };
      const { world, process, caller } = await begin(t, { clock: ahead });
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      await last.emit({
        ...{ type: 'state', state: 'restricted', scope: 'all', until: Date.now() + 2_000 },
        ...{ reason: 'blocked_by_msgapp', detail: 'As the test wants.' },
      });
      const { storage } = world;
      const submit = storage.submit.bind(storage);
      let writes = 0;
      storage.submit = (lane, input) => {
        if (lane.name === 'accounts.transition') writes += 1;
        return submit(lane, input);
      };
      await until('the restriction to end', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      storage.submit = submit;
      t.equal(writes, 1);
    });

    t.test('a restriction ends within a minute although a clock is behind', async (t) => {
      const behind = { ...systemClock, now: () => Date.now() - 3_600_000 };
      const minutes: number[] = [];
      const timers: Timers = {
        after: (ms, run) => {
          if (ms < 60_000) return systemTimers.after(ms, run);
          minutes.push(ms);
          return systemTimers.after(ms / 60, run);
        },
      };
      const { world, process, caller } = await begin(t, { clock: behind, timers });
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      minutes.length = 0;
      await last.emit({
        ...{ type: 'state', state: 'restricted', scope: 'all', until: Date.now() + 700 },
        ...{ reason: 'blocked_by_msgapp', detail: 'As the test wants.' },
      });
      await until('the restriction to end', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      t.same(minutes, [60_000]);
    });

    t.test('a restriction ends although the database was away at its end', async (t) => {
      let pauses = 0;
      const timers: Timers = {
        after: (ms, run) => {
          if (ms !== 5_000) return systemTimers.after(ms, run);
          pauses += 1;
          return systemTimers.after(ms / 10, run);
        },
      };
      const { world, process, caller } = await begin(t, { timers });
      const { view } = await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      const { storage } = world;
      const now = storage.now.bind(storage);
      let asked = 0;
      storage.now = async () => {
        asked += 1;
        throw new Error('the database is away');
      };
      await last.emit({
        ...{ type: 'state', state: 'restricted', scope: 'all', until: Date.now() + 300 },
        ...{ reason: 'blocked_by_msgapp', detail: 'As the test wants.' },
      });
      await until('its end', async () => asked > 0 || undefined);
      t.match(await world.row(view.accountId), { status: 'restricted' });
      storage.now = now;
      await until('the restriction to end', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      t.ok(pauses > 0, 'the database is asked again after 5 s');
    });

    t.test('a hold that comes as the network is lost ends in time', async (t) => {
      const { world, process, caller } = await begin(t);
      const { view } = await connect(process, caller, newNumber());
      const { driver, storage } = process;
      const { last } = driver;
      await last.state('connected');
      driver.behaviour.resume = () => undefined;
      const submit = storage.submit.bind(storage);
      storage.submit = async (lane, input) => {
        if (lane.name === 'accounts.transition') {
          storage.submit = submit;
          await process.accounts.restrictForSafety(view.accountId, Date.now() + 3_000);
        }
        return submit(lane, input);
      };
      await last.state('lost');
      t.match(await world.row(view.accountId), { status: 'restricted', reason: 'safety_limits' });
      await until('the hold to run out', async () =>
        (await world.row(view.accountId)).status === 'connecting' ? true : undefined,
      );
    });

    t.test('what cannot be answered in time is undone', async (t) => {
      const { world, process, caller } = await begin(t, {
        requestTimeoutMs: 4_000,
        leaseMs: 4_500,
      });
      const [fresh, known] = [newNumber(), newNumber()];
      const slow = { method: 'pairing_code', waitForStep: true } as const;
      const renewed = renewalsOf(process.storage);
      process.driver.behaviour.logOut = async ({ calls }) => {
        await renewed();
        calls.push('logged out');
      };
      await refused(t, connect(process, caller, fresh, slow), 'unavailable');
      await until('the session to be closed', async () => process.driver.last.closed || undefined);
      t.same(process.driver.last.calls, ['link pairing_code', 'logOut', 'logged out', 'close']);
      await refused(t, look(process, caller, fresh), 'connection_not_found');
      await connect(process, caller, known);
      await process.driver.last.state('connected');
      await process.driver.last.state('replaced');
      await refused(t, connect(process, caller, known, slow), 'unavailable');
      await until('the session to be closed', async () =>
        process.driver.live.length === 0 ? true : undefined,
      );
      t.match((await look(process, caller, known)).state, { reason: 'replaced' }, 'as before');

      const [byLink, link] = [newNumber(), 'its hash'];
      const begun = await connect(process, caller, byLink);
      await world.act((unit) => unit.links.put(begun.view.accountId, link, unit.now + 60_000));
      await refused(t, connect(process, caller, byLink, { ...slow, link }), 'unavailable');
      await until('the session to be closed', async () =>
        process.driver.live.length === 0 ? true : undefined,
      );
      t.match(await world.storage.read.links.find(link), { restarts: 0 }, 'not counted');

      process.driver.behaviour.link = (session) => session.emit(ask('code'));
      const { view } = await connect(process, caller, fresh, { method: 'code', waitForStep: true });
      let connectLate = (): void => undefined;
      process.driver.behaviour.answer = (session) =>
        new Promise((resolve) => {
          connectLate = () => {
            void session.state('connected').catch(() => undefined);
            resolve('accepted');
          };
        });
      const late = process.connections.answer(caller, 'msgapp_web', fresh, 'code', '1');
      await refused(t, late, 'connection_service_unreachable');
      connectLate();
      await until('the pairing to end', async () =>
        (await world.row(view.accountId)).status === 'disconnected' ? true : undefined,
      );
      const left = await world.row(view.accountId);
      t.equal(msgappStatus(restingView(left)), 'not_initialized');
      t.match(left, { reason: 'pairing_abandoned', detail: /cut short/ }, 'no session was there');
      const { last } = process.driver;
      await until('the session to be closed', async () => last.closed || undefined);
      t.same(last.calls.slice(-3), ['logOut', 'logged out', 'close'], 'the network may have it');
    });

    t.test('a connect that links as its time ends is not undone', async (t) => {
      const { world, process, caller } = await begin(t, { requestTimeoutMs: 4_000 });
      const { driver, storage } = process;
      const [fresh, known, pairing] = [newNumber(), newNumber(), newNumber()];
      await connect(process, caller, known);
      await driver.last.state('connected');
      await driver.last.state('replaced');
      await connect(process, caller, pairing);
      const submit = storage.submit.bind(storage);
      let undone = (): void => undefined;
      storage.submit = async (lane, input) => {
        if (lane.name === 'accounts.undo') undone();
        const output = await submit(lane, input);
        const isLink = lane.name === 'accounts.transition' && driver.last.calls[0] !== 'resume';
        // Its COMMIT is answered late.
        if (isLink) await new Promise<void>((resolve) => (undone = resolve));
        return output;
      };
      driver.behaviour.link = (session) => {
        void session.state('connected').catch(() => undefined);
      };
      for (const phone of [fresh, known, pairing]) {
        const late = connect(process, caller, phone, { method: 'code', waitForStep: true });
        await refused(t, late, 'unavailable');
        const linked = await until('it to be resumed', async () => {
          const seen = await look(process, caller, phone).catch(() => undefined);
          return seen?.live ? seen : undefined;
        });
        t.match(linked.state, { status: 'connected', linked: true });
        t.same(driver.last.calls, ['resume']);
        t.same(driver.sessions.at(-2)?.calls, ['link code', 'close'], 'its link goes on');
        t.equal(driver.last.account.id, linked.accountId);
        t.match(await world.lease(linked.accountId), { wanted: true });
        await refused(t, connect(process, caller, phone), 'already_connected');
      }
      const connected = 'account.connected connected null';
      t.same(await world.events(caller.tenantId), [
        ...[connected, 'account.disconnected disconnected replaced'],
        ...[connected, connected, connected],
      ]);
    });

    t.test('an undone connect takes back no proxy but its own', async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver, storage, broker } = process;
      const lane = proxyLane(broker);
      const phone = newNumber();
      const { accountId } = (await connect(process, caller, phone)).view;
      await driver.last.state('connected');
      await driver.last.state('replaced');
      const waiting = { waitForStep: true, unreachable: 'refuse' } as const;
      driver.behaviour.link = (session) => session.state('lost');
      await refused(
        t,
        connect(process, caller, phone, { ...waiting, proxy: 'socks5://own' }),
        'unavailable',
      );
      t.equal((await world.row(accountId)).proxy, null, 'its own is gone');
      for (const own of [undefined, 'socks5://own']) {
        driver.behaviour.link = () => undefined;
        const connecting = connect(process, caller, phone, { ...waiting, proxy: own });
        const ending = refused(t, connecting, 'unavailable');
        await until('it to wait', async () => driver.live.length > 0 || undefined);
        const proxy = `socks5://beside-${own}`;
        const change = { tenantId: caller.tenantId, accountId, proxy };
        t.equal(await storage.submit(lane, change), true);
        // Also in a session that the proxy has begun anew.
        driver.behaviour.link = (session) => session.state('lost');
        await driver.last.state('lost').catch(() => undefined);
        await ending;
        t.equal((await world.row(accountId)).proxy, proxy, 'that of another call stays');
      }
    });

    t.test('an undone connect knows its proxy by what is sealed', async (t) => {
      const [current, previous] = [secret(), secret()];
      const proxies = proxiesOf(current, previous);
      const { world, process, caller } = await begin(t, { proxies });
      const { driver, storage, broker } = process;
      const lane = proxyLane(broker);
      const { tenantId } = caller;
      const phone = newNumber();
      const { accountId } = (await connect(process, caller, phone)).view;
      await driver.last.state('connected');
      await driver.last.state('replaced');
      const change = (proxy: string) => storage.submit(lane, { tenantId, accountId, proxy });
      const shown = async () => proxiesOf(current).shown(await world.row(accountId));
      const undone = async (proxy: string | null, meanwhile?: string) => {
        const call = { waitForStep: true, unreachable: 'refuse', proxy } as const;
        const ending = refused(t, connect(process, caller, phone, call), 'unavailable');
        await until('it to wait', async () => driver.live.length > 0 || undefined);
        if (meanwhile !== undefined) await change(meanwhile);
        await driver.last.state('lost');
        await ending;
      };
      await change(proxiesOf(previous).sealed(accountId, 'socks5://former:1'));
      await undone('socks5://own:1');
      t.equal(await shown(), 'socks5://former:1', 'the former one is back under the current key');
      await undone(null);
      t.equal(await shown(), 'socks5://former:1');
      await undone(null, proxies.sealed(accountId, null));
      t.equal(await shown(), null, 'none, as another call has said, too');
    });

    t.test('an undone connect leaves an account as it was, and no link to none', async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver, storage } = process;
      const [known, fresh] = [newNumber(), newNumber()];
      const { accountId } = (await connect(process, caller, known)).view;
      await driver.last.state('connected');
      await driver.last.state('replaced');
      const before = await world.row(accountId);
      for (const phone of [known, fresh]) {
        const call = { waitForStep: true, unreachable: 'refuse' } as const;
        const ending = refused(t, connect(process, caller, phone, call), 'unavailable');
        await until('it to wait', async () => driver.live.length > 0 || undefined);
        const { accountId: id } = await look(process, caller, phone);
        const link = { accountId: id, tokenHash: phone, lifeMs: linkLifeMs };
        t.ok(await storage.submit(linkLane, link));
        await driver.last.state('lost');
        await ending;
      }
      t.same(await world.row(accountId), before);
      t.match(await storage.read.links.find(known), { accountId }, 'its link goes on');
      t.equal(await storage.read.links.find(fresh), undefined, 'it went with its account');
    });

    t.test('a connect that has ended a link goes on, however late the network is', async (t) => {
      const { world, process, caller } = await begin(t, { requestTimeoutMs: 4_000 });
      const { driver } = process;
      const phone = newNumber();
      driver.behaviour.link = (session) => session.state('connected');
      const { view } = await connect(process, caller, phone);
      const anew = { method: 'code', forceNew: true, waitForStep: true } as const;
      const goesOn = async (outcome: ReturnType<typeof connect>) => {
        t.match((await outcome).view, {
          ...{ accountId: view.accountId, live: false, step: null },
          ...{ state: { status: 'connecting', linked: false } },
        });
        // A later try would take the step away.
        driver.behaviour.link = () => undefined;
        await driver.last.emit(ask('code'));
        t.match((await look(process, caller, phone)).step, { field: 'code' });
        await driver.last.state('connected');
      };
      driver.behaviour.link = (session) => session.state('lost');
      await goesOn(connect(process, caller, phone, { ...anew, unreachable: 'refuse' }));
      driver.behaviour.link = () => undefined;
      await goesOn(connect(process, caller, phone, anew));
      t.match(await world.row(view.accountId), { status: 'connected', linked: true });
    });

    t.test('a connect whose COMMIT lost its answer is found, with what it replaced', async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver, storage } = process;
      const replaced = repeatConnects(t, storage);
      const phone = newNumber();
      const proxied = (proxy: string) => ({ proxy, forceNew: true });
      const { accountId } = (await connect(process, caller, phone, proxied('socks5://one'))).view;
      await connect(process, caller, phone);
      await driver.last.state('connected');
      await connect(process, caller, phone, proxied('socks5://two'));
      t.equal(driver.sessions.at(-2)?.calls.at(-2), 'logOut', 'the link before is given up');
      await driver.last.state('connected');
      await driver.last.state('replaced');
      await connect(process, caller, phone, proxied('socks5://three'));
      t.same(replaced, [false, false, true, false]);
      const link = { accountId, tokenHash: phone, lifeMs: linkLifeMs };
      t.ok(await storage.submit(linkLane, link));
      for (let restarts = 1; restarts <= linkRestarts; restarts += 1) {
        await connect(process, caller, phone, { link: phone });
        t.match(await storage.read.links.find(phone), { restarts });
      }
      t.match(await world.row(accountId), { status: 'connecting', linked: false });
    });

    t.test('every change of status is reported once, with its reason', story, async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver, lines } = process;
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      const { last } = driver;
      const lost = (detail: string) =>
        last.emit({
          type: 'state',
          state: 'lost',
          reason: 'network_unreachable',
          detail,
          retryAt: null,
        });
      driver.behaviour.resume = () => lost(`No way out for ${phone}.`);
      await last.state('connected');
      await lost(`No way out for ${phone}.`);
      await until('a few tries', async () =>
        last.calls.filter((call) => call === 'resume').length > 3 ? true : undefined,
      );
      const away = await look(process, caller, phone);
      t.match(away, {
        live: false,
        state: { reason: 'network_unreachable', detail: `No way out for ${phone}.` },
      });
      const before = await world.row(view.accountId);
      t.equal(before.since, away.since);
      driver.behaviour.resume = (session) => session.state('connected');
      await until('it to be connected', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      await last.emit({
        type: 'state',
        state: 'restricted',
        scope: 'new_contacts',
        until: null,
        reason: 'blocked_by_msgapp',
        detail: 'No strangers.',
      });
      const kept = await look(process, caller, phone);
      t.match(kept.state, { status: 'connected', restrictionDetail: 'No strangers.' });
      await last.state('logged_out');
      const reported = lines.filter(({ msg }) => msg === 'the status of an account changed');
      const account = view.accountId;
      const common = { level: 30, account, channel: 'msgapp_web' };
      t.match(reported, [
        { ...common, from: 'disconnected', to: 'connecting', reason: null, detail: null },
        { ...common, from: 'connecting', to: 'connected', reason: null },
        {
          ...common,
          from: 'connected',
          to: 'connecting',
          reason: 'network_unreachable',
          detail: `No way out for …${phone.slice(-4)}.`,
        },
        { ...common, from: 'connecting', to: 'connected', reason: null, tries: /^[1-9]/ },
        {
          from: 'connected',
          to: 'connected',
          reason: 'blocked_by_msgapp',
          detail: 'No strangers.',
        },
        { from: 'connected', to: 'disconnected', reason: 'logged_out' },
      ]);
      t.equal(reported.length, 6);
      t.notOk(JSON.stringify(lines).includes(phone), 'no number in full');
      const metrics = await process.metrics.text();
      const counted = (status: string, reason: string) =>
        `gateway_account_status_changes_total{channel="msgapp_web",mode="test",status="${status}",reason="${reason}"}`;
      t.match(metrics, `${counted('connecting', 'network_unreachable')} 1\n`);
      t.match(metrics, `${counted('connected', 'none')} 2\n`);
      t.match(metrics, `${counted('disconnected', 'logged_out')} 1\n`);
    });

    t.test('nothing is tried before the network wants to be asked again', async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver } = process;
      const phone = newNumber();
      const { view } = await connect(process, caller, phone);
      await driver.last.state('connected');
      const retryAt = Date.now() + 6_000;
      const detail = 'Too many log-ins.';
      const limited = { reason: 'rate_limited', detail, retryAt } as const;
      await driver.last.emit({ type: 'state', state: 'lost', ...limited });
      t.match(await look(process, caller, phone), { state: limited, retryAt });
      await process.stop();
      const next = await world.start({}, await own(t, world));
      const again = await until('the next process to have it', async () => {
        const seen = await look(next, caller, phone).catch(() => undefined);
        return seen !== undefined && next.driver.sessions.length === 0 ? seen : undefined;
      });
      t.match(again, { state: limited, retryAt }, 'also after a restart');
      await until('the try', async () =>
        (await world.row(view.accountId)).status === 'connected' ? true : undefined,
      );
      t.ok(Date.now() >= retryAt);
      t.match(await world.row(view.accountId), { reason: null, detail: null, retryAt: null });
    });

    t.test('what is left out is counted by kind', story, async (t) => {
      const { process, caller } = await begin(t);
      await connect(process, caller, newNumber());
      const { port } = process.driver.last;
      port.leftOut('reaction');
      port.leftOut('reaction');
      port.leftOut('made up' as 'call');
      const counted = 'gateway_inbound_left_out_total{channel="msgapp_web",kind=';
      const metrics = await process.metrics.text();
      t.match(metrics, `${counted}"reaction"} 2\n`);
      t.notMatch(metrics, 'made up');
      t.match(process.faults, [{ kind: 'nonsense', call: 'leftOut' }]);
    });

    t.test('a credential under too long a name is not stored, and a fault', async (t) => {
      const { process, caller } = await begin(t);
      await connect(process, caller, newNumber());
      const { credentials } = process.driver.last.port;
      await t.rejects(credentials.set({ ['n'.repeat(191)]: 'there' }), TypeError);
      t.match(process.faults, [{ kind: 'nonsense', call: 'credentials.set' }]);
    });

    t.test('a device that stays linked is named in the log', story, async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver, lines } = process;
      const named = (from: readonly { msg: string }[]) =>
        from.filter(({ msg }) => /not unlinked/.test(msg)).length;
      const linked = async (phone: string) => {
        await connect(process, caller, phone);
        await driver.last.state('connected');
        return phone;
      };
      const [polite, away, unheld] = [newNumber(), newNumber(), newNumber()];
      const remove = (of: Process, phone: string) =>
        of.connections.remove(caller, 'msgapp_web', phone);
      await remove(process, await linked(polite));
      t.equal(named(lines), 0, 'unlinked');
      driver.behaviour.loggedOut = 'still_linked';
      await remove(process, await linked(away));
      t.equal(named(lines), 1, 'the network was away');
      await connect(process, caller, away);
      await remove(process, away);
      t.equal(named(lines), 1, 'nothing was linked yet');
      await linked(unheld);
      await process.stop();
      const apiOnly = await world.start({ roles: ['api'] }, await own(t, world));
      await remove(apiOnly, unheld);
      t.equal(named(apiOnly.lines), 1, 'nobody held the session');
      t.notOk(
        [...lines, ...apiOnly.lines].some(({ msg }) => /another process|lease/.test(msg)),
        'and no word of another process',
      );
    });

    t.test('without a network, room or process', async (t) => {
      const { world, process, caller } = await begin(t, { capacity: 1 });
      process.driver.behaviour.link = (session) => session.state('lost');
      const phone = newNumber();
      const strict = { waitForStep: true, unreachable: 'refuse' } as const;
      await refused(t, connect(process, caller, phone, strict), 'unavailable');
      await refused(t, look(process, caller, phone), 'connection_not_found');
      const patient = { method: 'pairing_code', waitForStep: true } as const;
      t.equal((await connect(process, caller, phone, patient)).view.step, null);
      await until('another try', async () =>
        process.driver.last.calls.filter((call) => call.startsWith('link')).length > 1
          ? true
          : undefined,
      );
      const full = connect(process, caller, newNumber());
      await refused(t, full, 'connection_service_at_capacity');
      await connect(process, caller, phone);
      t.pass('its own session may be opened anew');
      await process.stop();
      const apiOnly = await world.start({ roles: ['api'] }, await own(t, world));
      await refused(t, connect(apiOnly, caller, newNumber()), 'unavailable');
      await refused(t, look(apiOnly, caller, phone), 'connection_service_unreachable');
      await apiOnly.connections.remove(caller, 'msgapp_web', phone);
      t.pass('a DELETE needs no session process');
    });

    t.test('sessions are taken up again after a restart', async (t) => {
      const { world, process, caller } = await begin(t);
      const [linked, restricted, pairing] = [newNumber(), newNumber(), newNumber()];
      const ids: string[] = [];
      for (const phone of [linked, restricted, pairing]) {
        ids.push((await connect(process, caller, phone)).view.accountId);
        if (phone === pairing) continue;
        await process.driver.last.port.credentials.set({ token: phone });
        await process.driver.last.state('connected');
      }
      await process.driver.sessions[1]?.emit({
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: 'blocked_by_msgapp',
        detail: 'As the test wants.',
      });
      const events = await world.events(caller.tenantId);
      await process.stop();
      t.equal(process.driver.live.length, 0);
      t.notOk(process.driver.sessions.some(({ calls }) => calls.includes('logOut')));
      t.match(await world.lease(ids[0] ?? ''), { wanted: true, owner: null });
      await t.rejects(
        async () => process.driver.sessions[0]?.port.credentials.set({ token: 'x' }),
        /over/,
      );

      const next = await world.start({}, await own(t, world));
      await until('both sessions to resume', async () =>
        next.driver.sessions.filter(({ calls }) => calls.includes('resume')).length === 2
          ? true
          : undefined,
      );
      const [session] = next.driver.sessions.filter(({ account }) => account.id === ids[0]);
      t.same(await session?.port.credentials.get(['token', 'none']), { token: linked });
      const statuses = await until('all to settle', async () => {
        const rows = await Promise.all(ids.map((id) => world.row(id)));
        return rows[2]?.status === 'disconnected' ? rows.map((row) => row.status) : undefined;
      });
      t.same(statuses, ['connected', 'restricted', 'disconnected']);
      t.equal((await world.row(ids[2] ?? '')).reason, 'pairing_abandoned');
      t.same(await world.events(caller.tenantId), events, 'a restart raises no event');
    });

    t.test('media is lent for one send', story, async (t) => {
      const released: string[] = [];
      const file = { kind: 'image', mimeType: 'image/png', fileName: 'a.png', size: 1 } as const;
      const { process, caller } = await begin(t, {
        media: {
          async fetch({ url }, tenantId, signal) {
            t.equal(tenantId, caller.tenantId);
            t.notOk(signal.aborted);
            return {
              file: { ...file, stream: () => Readable.from(['x']) },
              release: () => released.push(url),
            };
          },
        },
      });
      await connect(process, caller, newNumber());
      const { last } = process.driver;
      await last.state('connected');
      process.driver.behaviour.send = async ({ port }, { media }, signal) => {
        const one = await port.fetchMedia(media ?? { url: '' }, signal);
        t.match(one, file);
        t.notOk(released.includes(media?.url ?? ''), 'there while it is sent');
        if (media?.url === 'second') throw new Error('send throws');
        return { networkId: 'n', at: 0 };
      };
      const send = (url: string) =>
        process.listener.session?.send({
          reference: `msg_${url}`,
          attempt: 1,
          to: { phone: '+15550002222', networkId: null },
          text: 'hi',
          media: { url },
        });
      await send('first');
      t.same(released, ['first']);
      await t.rejects(async () => send('second'), { code: 'driver_failed' });
      t.same(released, ['first', 'second'], 'also of a send that failed');
      await last.port.fetchMedia({ url: 'third' }, new AbortController().signal);
      await send('fourth');
      t.same(released, ['first', 'second', 'fourth'], 'only what was fetched for a send');
      await last.state('logged_out');
      const late = last.port.fetchMedia({ url: 'fifth' }, new AbortController().signal);
      await t.rejects(late, { code: 'media_unavailable', certain: true });
    });

    t.test('another proxy ends what is under way, whatever the driver does', story, async (t) => {
      const { process, caller } = await begin(t);
      const { driver, faults, listener, storage } = process;
      const { view } = await connect(process, caller, newNumber());
      const { last } = driver;
      await last.state('connected');
      driver.behaviour.send = (_, __, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('cut'))),
        );
      last.close = () => {
        throw new Error('close throws');
      };
      const to = { phone: '+15550002222', networkId: null };
      const message = { reference: 'msg_1', attempt: 1, to, text: 'hi', media: null };
      const sending = listener.session?.send(message).catch((error: unknown) => error);
      const { accountId } = view;
      const change = { tenantId: caller.tenantId, accountId, proxy: 'socks5://one' };
      t.equal(await storage.submit(proxyLane(process.broker), change), true);
      t.match(await sending, { code: 'session_closed', certain: false });
      await until('the account to be connected anew', async () =>
        driver.last !== last && listener.session?.connected === true ? true : undefined,
      );
      t.match(faults, [{ call: 'close' }]);
      t.same(driver.last.calls, ['resume'], 'by one attempt');
    });

    t.test(
      'a proxy that no key opens is named as the reason, until another is set',
      story,
      async (t) => {
        const told: object[] = [];
        const proxies = proxiesOf(secret(), null, (facts) => told.push(facts));
        const { world, process, caller } = await begin(t, { proxies });
        const { driver, faults, listener, storage } = process;
        const lane = proxyLane(process.broker);
        const { accountId } = (await connect(process, caller, newNumber())).view;
        const change = (proxy: string) =>
          storage.submit(lane, { tenantId: caller.tenantId, accountId, proxy });
        await driver.last.state('connected');
        await change(proxiesOf(secret()).sealed(accountId, 'socks5://lost:1'));
        const why = 'The proxy of the account cannot be used: The gateway cannot open it.';
        await until('the reason to be shown', async () =>
          (await world.row(accountId)).detail?.startsWith(why) ? true : undefined,
        );
        t.match(await world.row(accountId), {
          status: 'connecting',
          reason: 'network_unreachable',
        });
        t.same(faults, [], 'no fault of the driver');
        t.match(told[0], { account: accountId, err: { message: /which is not configured/ } });
        await process.process.host.sweep();
        await change(proxies.sealed(accountId, 'socks5://other:1'));
        await until(
          'the account to be connected',
          async () => (await world.row(accountId)).status === 'connected' || undefined,
        );
        t.equal(listener.session?.connected, true);
        t.match(driver.last.port.proxy, { host: 'other' });
      },
    );

    t.test(
      'what was emitted before the proxy changed says nothing of the new session',
      story,
      async (t) => {
        const { process, caller } = await begin(t, { reconnectMaxMs: 1_000 });
        const lane = proxyLane(process.broker);
        const { driver, listener, storage } = process;
        const { view } = await connect(process, caller, newNumber());
        const { accountId } = view;
        const through = (proxy: string) =>
          storage.submit(lane, {
            tenantId: caller.tenantId,
            accountId,
            proxy,
          });
        await driver.last.state('connected');
        await through('socks5://one');
        const isAnew = async () =>
          (driver.sessions.length === 2 && listener.session?.connected) || undefined;
        await until('the account to be connected through it', isAnew);

        const { accounts } = storage.read;
        const find = accounts.find.bind(accounts);
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        let reads = 0;
        accounts.find = async (ids) => {
          reads += 1;
          await held;
          return find(ids);
        };
        await through('socks5://two');
        await until('the record to be read', async () => reads > 0 || undefined);
        const states = [driver.last.state('connected'), driver.last.emit(qr)];
        const message = driver.last.emit({ type: 'contacts', contacts: [] });
        accounts.find = find;
        release();
        for (const emitted of [...states, message]) await t.rejects(emitted, /session is over/);
        t.equal(listener.session?.connected, false);
        await until('the account to be connected anew', async () =>
          driver.sessions.length === 3 && listener.session?.connected ? true : undefined,
        );
        const to = { phone: '+15550002222', networkId: null };
        const text = { reference: 'msg_1', attempt: 1, to, text: 'hi', media: null };
        t.match(await listener.session?.send(text), { networkId: 'net_msg_1' });
      },
    );

    t.test(
      'a message that waits when the proxy changes does not hold up those behind it',
      story,
      async (t) => {
        const { process, caller } = await begin(t);
        const { driver, listener } = process;
        let isAway = true;
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        const take = async (): Promise<null> => {
          if (!isAway) return null;
          await held;
          throw new GatewayError('unavailable');
        };
        const media = { take, discard: async () => undefined };
        process.sessions.attach((await openStage(t, database.url, { media })).part);
        const { view } = await connect(process, caller, newNumber());
        const { last } = driver;
        await last.state('connected');
        const image = { kind: 'image', mimeType: null, fileName: null, size: 1 } as const;
        const waiting = { ...inbound('first'), media: { ...image, url: 'https://files/1' } };
        const former = last.emit(waiting);
        const change = {
          tenantId: caller.tenantId,
          accountId: view.accountId,
          proxy: 'socks5://one',
        };
        await process.storage.submit(proxyLane(process.broker), change);
        await until('the account to be connected anew', async () =>
          driver.last !== last && listener.session?.connected === true ? true : undefined,
        );
        release();
        await t.rejects(former, /session is over/);
        isAway = false;
        for (const event of [{ ...waiting }, inbound('second')]) void driver.last.emit(event);
        await until(
          'both to be stored',
          async () => {
            const found = await process.storage.read.messages.inboundAfter(
              caller.tenantId,
              0,
              null,
              9,
            );
            return found.map(({ text }) => text).join() === 'first,second' || undefined;
          },
          5_000,
        );
      },
    );

    t.test('a key with account_ids links its record alone, whatever comes between', async (t) => {
      const { world, process, caller } = await begin(t);
      const { connections, driver, storage } = process;
      const { accounts } = storage.read;
      const phone = newNumber();
      const linkedAnew = async (call: Call, between: () => Promise<unknown>) => {
        const { accountId } = (await connect(process, caller, phone)).view;
        const present = accounts.present.bind(accounts);
        accounts.present = async (...number) => {
          const row = await present(...number);
          accounts.present = present;
          await connections.remove(caller, 'msgapp_web', phone);
          await between();
          return row;
        };
        const limited = { ...caller, accountIds: new Set([accountId]) };
        return connect(process, limited, phone, call);
      };
      await refused(
        t,
        linkedAnew({}, async () => undefined),
        'scope_missing',
      );
      await refused(t, look(process, caller, phone), 'connection_not_found');
      let other = '';
      const another = async (): Promise<void> => {
        other = (await connect(process, caller, phone)).view.accountId;
        await driver.last.state('connected');
      };
      await refused(t, linkedAnew({ forceNew: true }, another), 'scope_missing');
      t.match(await world.row(other), { status: 'connected', linked: true });
    });

    t.test('a number that was removed meanwhile is read again', async (t) => {
      const { world, process, caller } = await begin(t);
      const { storage } = process;
      const { accountId } = (await connect(process, caller, newNumber())).view;
      const removed = { ...(await world.row(accountId)), id: 'acc_removed' };
      const parts = { listeners: [], reporter: { report: () => undefined } };
      const lane = { ...connectLane(parts), name: 'accounts.connect.beside' };
      const output = await storage.submit(lane, {
        ...{ tenantId: caller.tenantId, mode: 'test', channel: 'msgapp_web' },
        ...{ identifier: newNumber(), options: plainOptions('qr'), forceNew: false },
        ...{ proxy: 'sealed for acc_removed', accountsCap: 10, owner: 'somebody', leaseMs: 1_000 },
        ...{ existing: { row: removed, fence: 1 }, newAccountId: 'acc_new' },
      });
      t.same(output, { kind: 'stale' });
    });

    t.test('a driver that fails hurts nobody but its account', story, async (t) => {
      const { world, process, caller } = await begin(t);
      const { driver } = process;
      let failures = 2;
      driver.behaviour.open = () => {
        if (failures-- > 0) throw new Error('open throws');
      };
      const { view } = await connect(process, caller, newNumber());
      await until('the third try to open', async () =>
        driver.sessions.length > 0 ? true : undefined,
      );
      const { last } = driver;
      await last.state('connected');
      driver.behaviour.resume = () => {
        throw new Error('resume throws');
      };
      await last.state('lost');
      await until('more tries', async () =>
        last.calls.filter((call) => call === 'resume').length > 2 ? true : undefined,
      );
      driver.behaviour.resume = (session) => session.state('connected');
      await until('it to be connected', async () =>
        process.listener.session?.connected === true ? true : undefined,
      );
      const nonsense = { type: 'nonsense' } as unknown as DriverEvent;
      await t.rejects(last.emit(nonsense), TypeError);
      void last.emit(nonsense);
      driver.behaviour.send = () => {
        throw new Error('send throws');
      };
      const message = {
        reference: 'msg_1',
        attempt: 1,
        to: { phone: '+15550002222', networkId: null },
        text: 'hi',
        media: null,
      };
      await t.rejects(async () => process.listener.session?.send(message), {
        code: 'driver_failed',
        certain: false,
      });
      await last.emit({ type: 'identity', phone: null, networkId: 'hidden-1', name: 'Ada' });
      t.equal(process.listener.received.at(-1), 'identity', 'who somebody is reaches the messages');
      process.listener.receiving = async () => {
        throw new Error('the database is away');
      };
      await t.rejects(last.emit({ type: 'contacts', contacts: [] }), /away/);
      process.listener.receiving = () => new Promise(() => undefined);
      void last.emit({ type: 'contacts', contacts: [] });
      driver.behaviour.send = () => new Promise(() => undefined);
      const hanging = process.listener.session?.send(message).catch((error: unknown) => error);
      await last.state('replaced');
      t.equal((await world.row(view.accountId)).reason, 'replaced', 'a state passes what hangs');
      t.match(await hanging, { code: 'session_closed', certain: false });
      await t.rejects(async () => process.listener.session?.send(message), {
        code: 'not_connected',
        certain: true,
      });
    });
  });
}

const secret = (): string => randomBytes(32).toString('base64');

/** Proxies that are all found, sealed with this secret. */
function proxiesOf(
  current: string,
  previous: string | null = null,
  error: (facts: object) => void = () => undefined,
): AccountProxies {
  const sealer = makeSecrets(makeKeyring(current, previous));
  const addressOf = async (answer: string) => ({ answered: true, answer }) as const;
  const log = { error };
  return new AccountProxies({ sealer, egress: { addressOf }, allowPrivate: true, log });
}

interface Call {
  readonly channel?: string;
  readonly method?: string;
  readonly forceNew?: boolean;
  readonly waitForStep?: boolean;
  readonly unreachable?: 'refuse' | 'go_on';
  readonly proxy?: string | null | undefined;
  readonly link?: string;
}

function connect(process: Process, caller: Caller, identifier: string, call: Call = {}) {
  const { channel = 'msgapp_web', method = 'qr', forceNew = false } = call;
  return process.connections.connect(caller, {
    channel,
    identifier,
    options: plainOptions(method),
    forceNew,
    waitForStep: call.waitForStep ?? channel === 'chatapp',
    unreachable: call.unreachable ?? 'go_on',
    ...(call.proxy === undefined ? {} : { proxy: call.proxy }),
    ...(call.link === undefined ? {} : { link: call.link }),
  });
}

/** Loses the answers of the COMMITs of all connects. @returns whether each has replaced a link */
function repeatConnects(t: Test, storage: Process['storage']): boolean[] {
  const replaced: boolean[] = [];
  const submit = storage.submit.bind(storage);
  let again: Lane<ConnectInput, ConnectOutput> | undefined;
  storage.submit = async (lane, input) => {
    const output = await submit(lane, input);
    if (lane.name !== 'accounts.connect') return output;
    // The name says which lane it is.
    const connects = lane as unknown as Lane<ConnectInput, ConnectOutput>;
    again ??= {
      ...connects,
      name: 'accounts.connect.again',
      run: async (unit, [input]) => {
        if (input === undefined) return [];
        const found = await connects.recover?.(unit, input);
        return found === undefined ? connects.run(unit, [input], undefined, true) : [found];
      },
    };
    const repeated = await submit(again, input as unknown as ConnectInput);
    t.same(repeated, output);
    replaced.push(repeated.kind === 'begun' && repeated.undo.replaced);
    return repeated as unknown as typeof output;
  };
  return replaced;
}

/** Answers a function that waits for a renewal of the leases that begins from then on. */
function renewalsOf(storage: Process['storage']): () => Promise<unknown> {
  const [begun, ended] = [new Set<object>(), new Set<object>()];
  const submit = storage.submit.bind(storage);
  storage.submit = async (lane, input) => {
    const renewal = {};
    if (lane.name === 'leases.renew') begun.add(renewal);
    const output = await submit(lane, input);
    if (begun.has(renewal)) ended.add(renewal);
    return output;
  };
  return () => {
    const before = new Set(begun);
    const isOver = () => [...ended].some((renewal) => !before.has(renewal));
    return until('a renewal', async () => isOver() || undefined);
  };
}

async function look(process: Process, caller: Caller, phone: string) {
  const silence = 'connection_service_unreachable';
  return (await process.connections.find(caller, 'msgapp_web', phone, silence)).view;
}

/** A storage that is not closed with the process before, as of another process. */
async function own(t: Test, world: World) {
  return (await World.open(t, world.url)).storage;
}

async function refused(t: Test, asking: Promise<unknown>, code: GatewayError['code']) {
  const outcome = await asking.then(
    () => 'no refusal',
    (error: GatewayError) => error.code ?? String(error),
  );
  t.equal(outcome, code);
}

import type { Test } from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import type { Bench, Skip } from './bench.ts';
import { isAskFor, isWord } from './steps.ts';

/** A value that was not taken, with a sentence for the user. */
const notTaken = { accepted: false, detail: /\w+ .*\.$/ };
const noImports = { importContacts: false, importHistory: false };

/** Opening and linking. */
export async function linking(t: Test, bench: Bench): Promise<void> {
  const { world, capabilities } = bench;
  const without = (method: string): Skip =>
    capabilities.linkMethods.includes(method) ? false : `linkMethods has no ${method}`;

  await bench.clause(
    t,
    'open does no I/O, and a session that did nothing can be closed',
    false,
    async (t) => {
      const before = world.traffic();
      const { port, session } = await bench.open();
      await bench.quiet();
      t.same(world.traffic(), before);
      t.same(port.events, []);
      t.equal(session.close(), undefined);
      session.close();
    },
  );

  const known = ['qr', 'pairing_code', 'code', 'password'];
  for (const method of new Set([...known, ...capabilities.linkMethods])) {
    await bench.clause(t, `links by ${method}`, without(method), async (t) => {
      const opened = await bench.open();
      await bench.link(opened, method);
      const [stored] = opened.port.atConnected;
      t.ok(stored !== undefined && stored.size > 0, 'the credentials were there before');
      opened.port.credentials.values.clear();
      for (const [name, value] of stored ?? []) opened.port.credentials.values.set(name, value);
      await bench.resumed(opened);
    });
  }

  await bench.clause(t, 'a QR code is renewed, then runs out', without('qr'), async (t) => {
    const { account, port, session } = await bench.open();
    await session.link({ method: 'qr', ...noImports });
    const first = await port.step('show_qr');
    t.ok(first.expiresAt > Date.now(), 'says until when it can be scanned');
    t.not(first.data, '');
    await world.codeRunsOut(account);
    const second = await port.step('show_qr');
    t.not(second.data, first.data);
    await world.codesExpire(account);
    await port.step('expired');
    await bench.link({ account, port, session }, 'qr');
  });

  await bench.clause(t, 'a pairing code runs out', without('pairing_code'), async (t) => {
    const { account, port, session } = await bench.open();
    await session.link({ method: 'pairing_code', ...noImports });
    const { code, expiresAt } = await port.step('show_code');
    t.match(code, /^[0-9A-Z]{8}$/);
    t.ok(expiresAt > Date.now());
    await world.codesExpire(account);
    await port.step('expired');
  });

  for (const field of ['code', 'password'] as const) {
    await bench.clause(t, `a wrong ${field} leaves the step open`, without(field), async (t) => {
      const { account, port, session } = await bench.open();
      await session.link({ method: field, ...noImports });
      await port.next(`question for the ${field}`, isAskFor(field));
      const right = await bench.value(account, field);
      const wrong = right.replace(/./, (first) => (first === '1' ? '2' : '1'));
      t.match(await session.answer(field, wrong), notTaken);
      t.match(await session.answer(field, wrong), notTaken);
      t.same(await session.answer(field, right), { accepted: true });
      const last = port.events.findLast(({ type }) => type === 'state' || type === 'step');
      t.match(last, { type: 'state', state: 'connected' }, 'emitted before the answer resolved');
    });
  }

  const second =
    without('code') || (world.setPassword === null ? 'the world has no second factor' : false);
  await bench.clause(t, 'a second factor is asked for', second, async (t) => {
    const { account, port, session } = await bench.open();
    const password = 'correct horse battery staple';
    bench.log.forbid(password);
    await world.setPassword?.(account, password);
    await session.link({ method: 'code', ...noImports });
    await port.next('question for the code', isAskFor('code'));
    t.same(await session.answer('code', await world.loginCode(account)), { accepted: true });
    t.ok(port.events.some(isAskFor('password')), 'asked before the answer resolved');
    t.match(await session.answer('password', 'incorrect'), notTaken);
    t.notOk(port.events.some(({ type }) => type === 'state'));
    t.same(await session.answer('password', password), { accepted: true });
    await port.state('connected');
  });

  await bench.clause(t, 'an answer without a connection is an error', false, async (t) => {
    const { session } = await bench.open();
    await t.rejects(session.answer('code', '12345'), DriverError);
  });

  await bench.clause(
    t,
    'linking anew makes the older session replaced',
    bench.noRemoteLink,
    async (t) => {
      const older = await bench.linked();
      const newer = await bench.open(older.account);
      await bench.link(newer, bench.usualMethod);
      t.match(await older.port.state('logged_out'), { reason: 'replaced' });
      await bench.quiet();
      t.notOk(newer.port.events.some((event) => 'state' in event && event.state !== 'connected'));
      await older.session.resume();
      t.match(await older.port.state('logged_out'), { reason: 'replaced' });
    },
  );

  await bench.clause(
    t,
    'a session can be linked again, and forgets its earlier link',
    false,
    async (t) => {
      const opened = await bench.linked();
      const { values, changed } = opened.port.credentials;
      const before = new Map(values);
      const count = changed.length;
      await opened.session.link({ method: bench.usualMethod, ...noImports });
      await opened.port.next('step or state', isWord);
      const again = [...before.keys()].filter((name) => values.get(name) === before.get(name));
      const since = changed.slice(count);
      t.same(
        again.filter((name) => !since.includes(name)),
        [],
        'each earlier credential is deleted or written anew',
      );
      await bench.link(opened, bench.usualMethod);
      // What is the same in every link is no rest of the earlier one.
      t.same(
        again.filter((name) => values.get(name) !== before.get(name)),
        [],
        'none of the earlier link is written back',
      );
      t.notOk(
        opened.port.events.some((event) => event.type === 'state' && event.state !== 'connected'),
        'its own new link does not end it',
      );
    },
  );

  await bench.clause(t, 'a network out of reach is a loss, not a rejection', false, async (t) => {
    const { account, port, session } = await bench.open();
    await world.setReachable(account, false);
    await session.link({ method: bench.usualMethod, ...noImports });
    await port.state('lost');
    await world.setReachable(account, true);
    await bench.link({ account, port, session }, bench.usualMethod);
    await world.setReachable(account, false);
    await port.state('lost');
    await session.resume();
    await port.state('lost');
    await world.setReachable(account, true);
    await session.resume();
    await port.state('connected');
    t.equal(port.events.filter((event) => 'state' in event && event.state === 'lost').length, 3);
  });

  await bench.clause(t, 'a refused login', false, async (t) => {
    const { account, port, session } = await bench.open();
    await session.link({ method: bench.usualMethod, ...noImports });
    const word = await port.next('step or state', isWord);
    await world.refuseLogin(account);
    if (word.type === 'state') {
      // It is linked without a word of its owner's: the next login is refused.
      await session.link({ method: bench.usualMethod, ...noImports });
    } else if (word.step.type === 'ask' && word.step.field !== 'code') {
      const value = await bench.value(account, word.step.field);
      await session.answer(word.step.field, value).catch(isDriverError);
    }
    t.type((await port.state('refused')).detail, 'string');
    await bench.link({ account, port, session }, bench.usualMethod);
  });

  const stranger =
    without('qr') ||
    (world.scanAsAnother === null ? 'the network does not tell who linked' : false);
  await bench.clause(t, 'the phone of another number is unlinked again', stranger, async (t) => {
    const { account, port, session } = await bench.open();
    await session.link({ method: 'qr', ...noImports });
    await world.scanAsAnother?.(account, await port.step('show_qr'));
    const refused = await port.state('refused');
    t.match(refused, { reason: 'wrong_phone', detail: /\w+ .*\.$/ });
    t.notMatch(refused.detail, account.identifier, 'no number in full');
    await bench.quiet();
    t.same(
      port.events.filter(({ type }) => type !== 'step'),
      [refused],
      'nobody is connected, and nothing is received',
    );
    t.equal(port.credentials.values.size, 0, 'nothing is kept');
    await bench.link({ account, port, session }, 'qr');
  });

  await bench.clause(t, 'without stored credentials there is no connected', false, async (t) => {
    const { account, port, session } = await bench.open();
    await session.link({ method: bench.usualMethod, ...noImports });
    const word = await port.next('step or state', isWord);
    const before = port.atConnected.length;
    port.credentials.fenced = true;
    if (word.type === 'state') await session.link({ method: bench.usualMethod, ...noImports });
    else if (word.step.type === 'show_qr' || word.step.type === 'show_code') {
      await world.scan(account, word.step);
    } else if (word.step.type === 'ask') {
      const value = await bench.value(account, word.step.field);
      await session.answer(word.step.field, value).catch(isDriverError);
    }
    await bench.quiet();
    t.equal(port.atConnected.length, before);
    session.close();
  });
}

/**
 * An answer may fail with the login that it belongs to, in the contract's own way.
 * @throws Error that says so, where it failed in another one
 */
function isDriverError(error: unknown): void {
  if (error instanceof DriverError) return;
  throw new Error(`\`answer\` rejected with no DriverError: ${error}`, { cause: error });
}

import type { Test } from 'tap';
import {
  type DriverAccount,
  DriverError,
  type OutboundMessage,
} from '../../../core/contracts/driver.ts';
import { type Bench, patient, type Skip } from './bench.ts';

/** Sends to several contacts at once. */
export async function window(t: Test, bench: Bench): Promise<void> {
  const { world, capabilities } = bench;
  const { width } = bench;
  const isWide: Skip = width > 1 ? false : 'window is 1';

  const texts = async (account: DriverAccount) =>
    (await world.shown(account)).map(({ text }) => text).sort();
  const shown = (account: DriverAccount, count: number) =>
    bench.until(
      `${count} messages shown`,
      async () => (await world.shown(account)).length >= count,
    );
  const textsOf = (all: readonly OutboundMessage[]) => all.map(({ text }) => text).sort();

  const noError: Skip =
    isWide || (world.nobody === undefined ? 'the network takes every address' : false);
  await bench.clause(t, 'an error in the middle fails its own message only', noError, async (t) => {
    const { account, session } = await bench.linked();
    const good = await bench.messages(account, 'middle');
    const [first, ...others] = good;
    const usual = await bench.message(account, 'msg_nobody');
    const bad = { ...usual, to: (await world.nobody?.(account)) ?? usual.to };
    const sent = await Promise.allSettled(
      [first, bad, ...others].flatMap((one) =>
        one === undefined ? [] : session.send(one, patient()),
      ),
    );
    const refused = sent.filter(({ status }) => status === 'rejected');
    t.match(refused, [{ reason: { certain: true, retryAfterMs: null } }]);
    t.same(await texts(account), textsOf(good));
  });

  await bench.clause(
    t,
    'to each contact in order, whatever else is under way',
    isWide,
    async (t) => {
      const { account, session } = await bench.linked();
      const rounds = [
        await bench.messages(account, 'round_1'),
        await bench.messages(account, 'round_2'),
      ];
      await Promise.all(
        (rounds[0] ?? []).map(async (first, n) => {
          await session.send(first, patient());
          const second = rounds[1]?.[n];
          if (second !== undefined) await session.send(second, patient());
        }),
      );
      const seen = (await world.shown(account)).map(({ text }) => text);
      t.same([...seen].sort(), textsOf(rounds.flat()));
      for (const [n, first] of (rounds[0] ?? []).entries()) {
        t.ok(seen.indexOf(first.text) < seen.indexOf(rounds[1]?.[n]?.text ?? ''));
      }
    },
  );

  await bench.clause(t, 'a connection lost with all of them under way', isWide, async (t) => {
    const { account, session, port } = await bench.linked();
    const all = await bench.messages(account, 'lost');
    await world.treatSends(account, 'hold');
    const held = Promise.allSettled(all.map((message) => session.send(message, patient())));
    await shown(account, width);
    await world.drop(account);
    areUncertain(t, await held);
    if (!capabilities.deduplicates) {
      t.comment('deduplicates is false: none of them is repeated');
      return;
    }
    await port.state('lost');
    await world.treatSends(account, 'accept');
    await session.resume();
    await port.state('connected');
    const again = all.map((message) => session.send({ ...message, attempt: 2 }, patient()));
    await Promise.all(again);
    t.same(await texts(account), textsOf(all), 'each is shown once');
  });

  await bench.clause(
    t,
    'a restriction stops all of them, for certain',
    isWide || bench.noRestrictions,
    async (t) => {
      const { account, session, port } = await bench.linked();
      const all = await bench.messages(account, 'restricted');
      await world.restrict(account, 'all');
      await port.state('restricted');
      const refused = await Promise.allSettled(all.map((one) => session.send(one, patient())));
      for (const one of refused) t.match(one, { status: 'rejected', reason: { certain: true } });
      await world.lift(account);
      await port.state('unrestricted');
      await Promise.all(all.map((message) => session.send(message, patient())));
      t.same(await texts(account), textsOf(all));
    },
  );

  await bench.clause(t, 'the end of the session ends all of them', isWide, async (t) => {
    const { account, session } = await bench.linked();
    await world.treatSends(account, 'hold');
    const all = await bench.messages(account, 'closed');
    const held = Promise.allSettled(all.map((message) => session.send(message, patient())));
    await shown(account, width);
    session.close();
    areUncertain(t, await held);
  });
}

function areUncertain(t: Test, held: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of held) {
    t.equal(one.status, 'rejected');
    const error: unknown = one.status === 'rejected' ? one.reason : null;
    t.ok(error instanceof DriverError && !error.certain, 'the network may have each of them');
  }
}

import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Erasing a contact who is in the credentials. */
export async function forgetting(t: Test, bench: Bench): Promise<void> {
  const { driver, world } = bench;
  const none = driver.credentialsOf === undefined ? 'no credential is about a contact' : false;

  await bench.clause(t, 'an erased contact is met anew', none, async (t) => {
    const linked = await bench.linked();
    const { account } = linked;
    const from = await world.contact(account, 1);
    let live = linked;
    const converse = async (text: string): Promise<void> => {
      bench.log.forbid(text);
      await world.write(account, { from, name: 'Ada', text });
      const message = await live.port.message();
      t.equal(message.text, text);
      const answer = await bench.message(account, `msg_${text.replaceAll(' ', '_')}`);
      await live.session.send({ ...answer, to: message.from }, AbortSignal.timeout(10_000));
      contact = message.from;
      // A library may store more of an exchange, and acknowledge it, a little later.
      await bench.settled(live);
    };
    let contact = from;
    const about = async () => (await driver.credentialsOf?.(contact, live.port.credentials)) ?? [];
    const forget = async (): Promise<void> => {
      const names = await about();
      live.session.forget?.(names);
      await live.port.credentials.set(Object.fromEntries(names.map((name) => [name, null])));
    };

    await converse('before the erasure');
    t.not((await about()).length, 0);
    await forget();
    await bench.quiet();
    t.same(await about(), [], 'nothing is written back');
    await converse('after the erasure');

    live = await bench.reopened(linked);
    await forget();
    t.same(await about(), [], 'nor is a connection needed');
    await live.session.resume();
    await live.port.state('connected');
    await converse('erased while away');
  });
}

import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Erasing a contact who is in the credentials. */
export async function forgetting(t: Test, bench: Bench): Promise<void> {
  const { driver, world } = bench;
  const none = driver.credentialsOf === undefined ? 'no credential is about a contact' : false;

  const noKeeping = none || bench.nothingKept;
  await bench.clause(t, 'what comes after an erasure is not given up', noKeeping, async (t) => {
    const linked = await bench.linked();
    const { account, session, port } = linked;
    const from = await world.contact(account, 1);
    const mediaUrl = 'https://example.com/picture.jpg';
    const picture = bench.capabilities.media ? { mediaUrl } : {};
    const write = async (text: string, more: object = {}): Promise<void> => {
      bench.log.forbid(text);
      await world.write(account, { from, name: 'Ada', text, ...more });
    };
    await write('before the erasure');
    const { from: contact } = await port.message();
    await bench.settled(linked);
    const erasedAt = Date.now();
    port.onEmit = async ({ type }) => {
      if (type === 'message') throw new Error('the file is slow');
    };
    await write('during the erasure', picture);
    await port.message();
    const names = (await driver.credentialsOf?.(contact, port.credentials, erasedAt)) ?? [];
    session.forget?.(names);
    await port.credentials.set(Object.fromEntries(names.map((name) => [name, null])));
    await bench.quiet();
    const later = await bench.resumed(linked);
    t.equal((await later.port.message()).text, 'during the erasure');
  });

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
    const about = async () =>
      (await driver.credentialsOf?.(contact, live.port.credentials, Date.now())) ?? [];
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

import t from 'tap';
import { newId } from '../../../core/ids.ts';
import { numberedAtOnce, numberLane } from '../../../plugins/events/feed/number-lane.ts';
import { settleRestored } from '../../../plugins/messages/restored.ts';
import { databases } from '../../harness/databases.ts';
import { acceptedId, FakeSession, inbound, makeTenant, openStage, until } from './stage.ts';

for (const engine of databases) {
  t.test(`numbers after restores, ${engine.name}`, async (t) => {
    const stage = await openStage(t, (await engine.create(t)).url);
    const { storage } = stage;
    const { tenantId, accountIds } = await makeTenant(stage);
    const { tenantId: unread } = await makeTenant(stage);
    const session = new FakeSession(tenantId, accountIds[0] ?? '', stage.broker.processId);
    const { write } = storage.connections;

    /** The numbers that cursors of messages and events have. */
    const latest = async () => {
      const [messages, feeds] = await Promise.all([
        storage.read.tenants.inboundSequences([tenantId]),
        storage.read.feed.states([tenantId]),
      ]);
      return [messages.get(tenantId) ?? 0, feeds.get(tenantId)?.last ?? 0] as const;
    };
    const putBack = async ([message, event]: readonly [number, number]) => {
      await write('tenants').where({ id: tenantId }).update({ inbound_sequence: message });
      await write('event_feeds').where({ tenant_id: tenantId }).update({ last: event });
    };
    const settle = async () => {
      const before = Date.now();
      await until('another moment', () => Date.now() > before || undefined);
      await storage.submit(settleRestored, undefined);
      return await latest();
    };
    /** More than fifty of both kinds, as they come after a restore. */
    const goOn = async () => {
      for (let n = 0; n < 3; n += 1) await stage.part.receive(session, inbound(newId('msg')));
      await stage.run(async (unit) => {
        const subjects = Array.from({ length: 60 }, () => newId('msg'));
        const event = { tenantId, type: 'message.sent', payload: {}, at: unit.now } as const;
        await unit.events.record(subjects.map((subject) => ({ ...event, subject })));
      });
      await storage.submit(numberLane, { tenantId, most: numberedAtOnce });
      return await latest();
    };
    const isBehind = (later: readonly number[], earlier: readonly number[], message: string) => {
      t.ok(
        later.every((number, n) => Number.isSafeInteger(number) && number > (earlier[n] ?? 0)),
        message,
      );
    };

    const backup = await goOn();
    const [messages, events] = await settle();
    t.ok((await storage.read.feed.states([unread])).get(unread)?.last, 'also where none was read');
    const [lastMessage, lastEvent] = await goOn();
    t.equal(lastMessage, messages + 3);
    const found = await storage.read.feed.after(tenantId, events, 100);
    t.same(
      found.map(({ sequence }) => sequence),
      Array.from({ length: lastEvent - events }, (_, n) => events + 1 + n),
      'a cursor of that moment has all that come',
    );
    const later = await goOn();

    await putBack(backup);
    const again = await settle();
    isBehind(again, later, 'a second restore of one backup');
    const hourAgo = (Date.now() - 3_600_000) * 1_000;
    const afterRestore = [hourAgo, hourAgo] as const;
    await putBack(afterRestore);
    isBehind(await settle(), again, 'a restore of a backup that was made after one');
    const most = await goOn();
    await putBack(afterRestore);
    const anew = await settle();
    isBehind(anew, most, 'a second restore of that one');
    await putBack(backup);
    isBehind(await settle(), anew, 'the first backup once more');

    const ahead = [8e15, 8e15] as const;
    await putBack(ahead);
    isBehind(await settle(), ahead, 'a clock that is behind');
  });

  t.test(`a queued message forgets why its last try failed, ${engine.name}`, async (t) => {
    const stage = await openStage(t, (await engine.create(t)).url);
    const { tenantId } = await makeTenant(stage);
    const id = acceptedId(await stage.send({ tenantId }));
    const { write } = stage.storage.connections;
    await write('messages').where({ id }).update({ error: 'flood_wait' });
    t.equal(await stage.storage.submit(settleRestored, undefined), 1);
    t.match(await write('messages').where({ id }), [{ error: null, attempts: 1 }]);
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Awaited, awaitedPrefix, type Envelope } from '../../../drivers/msgapp_web/awaited.ts';
import { until } from '../../harness/story.ts';

t.test('the phone is asked on although the clock is set back between two times', async (t) => {
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  const ids = Array.from({ length: 6 }, (_, n) => `message_${n}`);
  const stored = new Map<string, string>();
  for (const id of ids) {
    const envelope: Envelope = {
      key: { id },
      pushName: null,
      receivedAt: Date.now(),
      at: now() / 1_000,
      askAt: 0,
    };
    stored.set(`${awaitedPrefix}${id}`, JSON.stringify([id, envelope]));
  }
  stored.set('awaited', JSON.stringify([...stored.keys()]));
  const asked: string[] = [];
  // As much of the parts as is called.
  const parts = {
    keys: { writes: { get: async () => stored, set: () => undefined } },
  } as unknown as ConstructorParameters<typeof Awaited>[0];
  const socket = {
    requestPlaceholderResend: async ({ id }: { id: string }) => void asked.push(id),
  } as unknown as ConstructorParameters<typeof Awaited>[1];
  const awaited = new Awaited(parts, socket);
  t.teardown(() => awaited.close());
  await awaited.start();
  await sleep(500);
  t.same(asked, ids.slice(0, 5), 'five at once');
  Date.now = () => now() - 3_600_000;
  awaited.add({ key: { id: 'later' }, messageTimestamp: now() / 1_000 });
  await sleep(3_000);
  t.equal(asked.length, 5, 'not sooner');
  await until('the sixth', async () => asked.length === 6 || undefined);
  t.same(asked, ids, 'the next after five seconds');
});

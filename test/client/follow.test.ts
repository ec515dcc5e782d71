import t from 'tap';
import { GatewayClient, inMemory } from '../../public/client.ts';

t.test('a signal ends a stream in the middle of a page', async (t) => {
  const items = [{ id: '1' }, { id: '2' }, { id: '3' }];
  const fetch = async () =>
    Response.json({ messages: items, next_cursor: 'new', events: items, cursor: 'new' });
  const client = new GatewayClient({ baseUrl: 'http://gateway/v1', apiKey: 'key', fetch });
  for (const name of ['messages', 'events'] as const) {
    const ending = new AbortController();
    const cursor = inMemory('old');
    const options = { cursor, signal: ending.signal };
    const stream: AsyncIterator<{ readonly id: string }> = client[name](options);
    t.match(await stream.next(), { value: { id: '1' } }, name);
    ending.abort(new Error('enough'));
    await t.rejects(stream.next(), { message: 'enough' }, name);
    t.equal(await cursor.load(), 'old', 'the page was not left behind');
  }
});

t.test('the cursor behind a page is saved when a signal comes with its last item', async (t) => {
  const fetch = async () => Response.json({ messages: [{ id: '1' }], next_cursor: 'new' });
  const client = new GatewayClient({ baseUrl: 'http://gateway/v1', apiKey: 'key', fetch });
  const ending = new AbortController();
  const cursor = inMemory('old');
  const stream = client.messages({ cursor, signal: ending.signal });
  t.match(await stream.next(), { value: { id: '1' } });
  ending.abort(new Error('enough'));
  await t.rejects(stream.next(), { message: 'enough' });
  t.equal(await cursor.load(), 'new');
});

import t from 'tap';
import { serverUrl } from './borrow.ts';

/** What test/run.test.ts runs in a run of its own: it asks for one server, and does not end. */
t.test('a test that goes on', async () => {
  console.error(`borrowed ${await serverUrl('mariadb')}`);
  await new Promise((resolve) => setTimeout(resolve, 100_000));
});

import t from 'tap';
import { GatewayError } from '../../core/errors.ts';
import { whenAvailable } from '../../core/starting.ts';

t.test('a step of the start is tried again while the database is away', async (t) => {
  let tries = 0;
  const answer = await whenAvailable(async () => {
    tries += 1;
    if (tries < 3) throw new GatewayError('unavailable');
    return 'done';
  });
  t.same([answer, tries], ['done', 3]);
});

t.test('a step that fails for another reason fails at once', async (t) => {
  let tries = 0;
  const failing = whenAvailable(async () => {
    tries += 1;
    throw new Error('wrong secret');
  });
  await t.rejects(failing, /wrong secret/);
  t.equal(tries, 1);
});

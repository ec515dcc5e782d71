import t from 'tap';
import { describe } from '../../../plugins/mcp/description.ts';
import { change } from './sample-tool.ts';

t.test('a description says what it is for and what to do after each refusal', async (t) => {
  const text = describe(change);
  t.match(text, /^Changes it\./);
  t.match(text, /- 429 `daily_send_cap`: nothing more can be sent/);
  t.notMatch(text, '- 404', 'what the operation itself explains is not said twice');
  t.match(text, /- 409 `idempotency_conflict`: this `idempotency_key` was used/);
  const closed = describe({ ...change, errors: ['webhooks_not_enabled'] });
  t.notMatch(closed, 'webhooks_not_enabled', 'the instructions say what to do');
  const gone = { code: 'thing_gone', status: 410, text: 'It is gone.' };
  const remedied = { ...gone, code: 'thing_lost', remedy: 'look for it.' };
  const own = describe({ ...change, errors: [gone, remedied] });
  t.match(own, '- 410 `thing_gone`: It is gone.\n- 410 `thing_lost`: look for it.');
});

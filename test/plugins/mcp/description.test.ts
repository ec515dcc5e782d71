import t from 'tap';
import { describe } from '../../../plugins/mcp/description.ts';
import { change } from './sample-tool.ts';

t.test('a description says what to expect and what to do after each refusal', async (t) => {
  const text = describe(change);
  t.match(text, /^Changes it\./);
  t.match(text, 'Answers 200 with `id`, `text`.');
  t.match(describe({ ...change, picture: 'text' }), '200 with `id`, and `text` as an image beside');
  t.match(text, /- 429 `daily_send_cap`: nothing more can be sent/);
  t.notMatch(text, '- 404', 'what the operation itself explains is not said twice');
  t.match(text, /- 409 `idempotency_conflict`: this `idempotency_key` was used/);
  const gone = { code: 'thing_gone', status: 410, text: 'It is gone.' };
  const remedied = { ...gone, code: 'thing_lost', remedy: 'look for it.' };
  const own = describe({ ...change, errors: [gone, remedied] });
  t.match(own, '- 410 `thing_gone`: It is gone.\n- 410 `thing_lost`: look for it.');
});

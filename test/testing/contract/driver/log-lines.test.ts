import t from 'tap';
import { LogLines } from '../../../../testing/contract/driver/log-lines.ts';

const secret = JSON.stringify({ key: 'a "b"\n' });

t.test('a secret is found however a line holds it', async (t) => {
  const leaks: readonly [string, object][] = [
    ['as it is', {}],
    ['as a fact', { secret }],
    ['in a text of JSON', { data: JSON.stringify({ secret }) }],
    ['in a field of an error', { err: Object.assign(new Error('no'), { config: { secret } }) }],
    ['in an error of another name', { failure: Object.assign(new Error('no'), { secret }) }],
    ['in a cause', { err: new Error('no', { cause: new Error(secret) }) }],
    ['in an error as the facts', Object.assign(new Error('no'), { secret })],
  ];
  for (const [how, facts] of leaks) {
    const log = new LogLines();
    log.forbid(secret);
    log.warn(facts, how === 'as it is' ? secret : 'said');
    t.equal(log.offending().length, 1, how);
  }
});

t.test('any facts can be logged', async (t) => {
  const log = new LogLines();
  log.forbid(secret);
  const facts: Record<string, unknown> = { many: 10n ** 20n, at: new Date(0) };
  log.info(Object.assign(facts, { facts }), 'around');
  t.match(log.lines, [/^around .*100000000000000000000.*1970-01-01/]);
  t.same(log.offending(), []);
});

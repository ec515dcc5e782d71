import t from 'tap';
import { causesOf } from '../../core/causes.ts';

t.test('the causes of an error are a sentence for the log', async (t) => {
  const because = (cause: unknown) =>
    causesOf(new Error('the outermost says it itself', { cause }));
  t.equal(because(undefined), null);
  t.equal(causesOf('no error'), null);
  t.equal(because('a word'), 'a word');
  t.equal(because(new Error('to +1 202 555 0123')), 'to …0123', 'no number in full');
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  t.equal(because(new Error('no host', { cause: refused })), 'no host: ECONNREFUSED');
  t.equal(because(new Error('same', { cause: new Error('same') })), 'same', 'each once');
  const long = because(new Error('x'.repeat(1_000))) ?? '';
  t.ok(long.length <= 300 && long.endsWith('…'), 'not more than a line holds');
  const circle = new Error('round');
  circle.cause = circle;
  t.equal(because(circle), 'round');
});

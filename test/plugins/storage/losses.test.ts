import t from 'tap';
import { Losses } from '../../../plugins/storage/losses.ts';

t.test('what is found is told by the last COMMIT that ran it', async (t) => {
  const losses = new Losses<string>();
  t.equal(losses.count, 0);
  t.same(losses.signalsOf(['one']), []);
  const told: string[] = [];
  const tell = (found: readonly string[]) => {
    told.length = 0;
    for (const signal of losses.signalsOf(found)) signal();
    return told;
  };
  losses.add(['one', 'two', 'three'], () => told.push('first'));
  t.same(tell(['two', 'one']), ['first'], 'once for all of them');
  losses.add(['two', 'three'], () => told.push('second'));
  t.equal(losses.count, 2);
  t.same(tell(['one']), ['first'], 'the second was not carried out');
  t.same(tell(['two']), ['second'], 'or it was');
  t.same(tell(['one', 'three']), ['first', 'second'], 'in their order');
  losses.add([], () => told.push('a look'));
  t.same(tell(['one']), ['first'], 'one that ran nothing tells nothing');
  t.same(tell([]), []);
});

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
  const add = (running: readonly string[], name: string) => {
    losses.running = running;
    losses.add(() => told.push(name));
  };
  add(['one', 'two', 'three'], 'first');
  t.same(tell(['two', 'one']), ['first'], 'once for all of them');
  add(['two', 'three'], 'second');
  t.equal(losses.count, 2);
  t.same(tell(['one']), ['first'], 'the second was not carried out');
  t.same(tell(['two']), ['second'], 'or it was');
  t.same(tell(['one', 'three']), ['first', 'second'], 'in their order');
  add([], 'a look');
  t.same(tell(['one']), ['first'], 'one that ran nothing tells nothing');
  t.same(tell([]), []);
});

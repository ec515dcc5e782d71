import t from 'tap';
import { hasPrometheus } from '../servers/prometheus.ts';
import { readRules } from './rules.ts';
import { fleetTroubles } from './troubles/fleet.ts';
import { lastingTroubles } from './troubles/lasting.ts';
import { singleTroubles } from './troubles/single.ts';
import { Watch } from './watch.ts';

t.test(
  'each alert fires in its trouble, on real metrics, and in no other',
  { skip: !hasPrometheus() },
  async (t) => {
    const watch = await Watch.start(t);
    t.jobs = 3;
    await Promise.all([
      t.test('of ten seconds', { buffered: true }, (t) => lastingTroubles(t, watch)),
      t.test('of one process', { buffered: true }, (t) => singleTroubles(t, watch)),
      t.test('of two processes', { buffered: true }, (t) => fleetTroubles(t, watch)),
    ]);
    const names = (await readRules()).map(({ alert }) => alert);
    t.same([...watch.given].sort(), [...names].sort());
  },
);

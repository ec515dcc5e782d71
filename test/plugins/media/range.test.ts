import t from 'tap';
import { readRange } from '../../../plugins/media/range.ts';

t.test('one range of bytes is served, several or nonsense are ignored', async (t) => {
  const rows = [
    [undefined, 'whole'],
    ['bytes=0-', { start: 0, end: 9 }],
    ['bytes=2-3', { start: 2, end: 3 }],
    ['bytes=2-99', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=3-2', 'whole'],
    ['bytes=0-1,3-4', 'whole'],
    ['lines=1-2', 'whole'],
    ['bytes=-', 'whole'],
  ] as const;
  for (const [header, verdict] of rows) t.same(readRange(header, 10), verdict, `${header}`);
});

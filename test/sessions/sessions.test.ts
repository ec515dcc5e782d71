import t from 'tap';
import { liveSides } from '../bench/live-sessions.ts';
import { measureAlone } from './alone.ts';
import { type Figure, showFigures } from './figures.ts';
import { count } from './settings.ts';
import { measureTakeover } from './takeover.ts';

t.setTimeout(3_600_000);

for (const side of liveSides) {
  t.test(`${count} sessions of ${side.channel}`, async (t) => {
    const figures: Figure[] = [];
    await t.test('in one process', async (t) => {
      figures.push(...(await measureAlone(t, side)));
    });
    await t.test('taken over from a killed process', async (t) => {
      figures.push(...(await measureTakeover(t, side)));
    });
    showFigures(t, figures);
  });
}

import t from 'tap';
import { eventDescriptions, eventTypes } from '../../../core/contracts/events.ts';

t.test('the nine events are described', async (t) => {
  t.equal(eventTypes.length, 9);
  t.same(Object.keys(eventDescriptions), [...eventTypes]);
});

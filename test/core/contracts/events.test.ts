import t from 'tap';
import {
  allEventTypes,
  eventDescriptions,
  eventSet,
  eventTypes,
} from '../../../core/contracts/events.ts';

t.test("all events are described, nine of them are every tenant's", async (t) => {
  t.equal(eventTypes.length, 9);
  t.same(Object.keys(eventDescriptions), [...allEventTypes]);
  t.same(eventSet(new Set(['operator_events'])), [...eventTypes]);
  t.same(eventSet(new Set()), [...allEventTypes]);
  const few = new Set(['operator_events', 'event:message.sent']);
  t.same(
    eventSet(few),
    eventTypes.filter((type) => type !== 'message.sent'),
  );
});

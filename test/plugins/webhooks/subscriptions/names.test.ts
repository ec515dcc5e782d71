import t from 'tap';
import { defaultName, isReservedName } from '../../../../plugins/webhooks/subscriptions/names.ts';

t.test('a default name is the time of creation, or the next free millisecond', async (t) => {
  const at = Date.UTC(2026, 0, 31, 9, 30, 0, 7);
  t.equal(
    defaultName(at, () => false),
    'webhook-20260131T093000007Z',
  );
  const taken = new Set(['webhook-20260131T093000007Z', 'webhook-20260131T093000008Z']);
  t.equal(
    defaultName(at, (name) => taken.has(name)),
    'webhook-20260131T093000009Z',
  );
});

t.test('a name cannot be taken for an id or a path', async (t) => {
  for (const [name, isReserved] of [
    ['wh_', true],
    ['wh_1', true],
    ['WH_1', false],
    ['wh', false],
    ['my wh_', false],
    ['.', true],
    ['..', true],
    ['...', false],
  ] as const) {
    t.equal(isReservedName(name), isReserved, name);
  }
});

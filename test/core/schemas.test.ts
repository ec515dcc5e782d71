import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { Type } from 'typebox';
import {
  Closed,
  Nullable,
  nullableTimestamp,
  OneOf,
  Timestamp,
  timestamp,
} from '../../core/schemas.ts';

t.test(
  'schemas of closed objects, of null, of choices and of times take what is right only',
  async (t) => {
    const ajv = new Ajv2020({ strict: false });
    const takes = (schema: object, value: unknown) => ajv.validate(schema, value);
    const closed = Closed({ name: Type.String(), size: Type.Optional(Type.Integer()) });
    t.ok(takes(closed, { name: 'n' }));
    t.notOk(takes(closed, { name: 'n', other: 1 }), 'an unknown field');
    for (const [schema, value, bad] of [
      [Nullable(Type.Integer({ minimum: 3 })), 3, 2],
      [Nullable(OneOf(['a', 'b'])), 'a', 'c'],
      [Nullable(closed), { name: 'n' }, { size: 1 }],
      [Nullable(Type.Union([Type.String(), Type.Integer()])), 'x', true],
      [OneOf(['a', 'b']), 'b', 'c'],
      [Timestamp, '2026-01-31T09:30:00.000Z', '2026-01-31'],
    ] as const) {
      t.ok(takes(schema, value), JSON.stringify(value));
      t.notOk(takes(schema, bad), JSON.stringify(bad));
    }
    for (const schema of [Nullable(Type.String()), Nullable(OneOf(['a'])), Nullable(closed)]) {
      t.ok(takes(schema, null));
    }
    t.equal(timestamp(0), '1970-01-01T00:00:00.000Z');
    t.ok(takes(Timestamp, timestamp(Date.now())));
    t.equal(nullableTimestamp(null), null);
    t.equal(nullableTimestamp(0), '1970-01-01T00:00:00.000Z');
  },
);

import t from 'tap';
import { Type } from 'typebox';
import { PartValidator } from '../../../plugins/api/validation.ts';

t.test('an open request schema fails the boot', async (t) => {
  t.throws(() => new PartValidator('body', Type.Object({ a: Type.String() }), 'op'), {
    message: 'the body of operation "op" has an open object (a): make it with Closed()',
  });
});

t.test('a leap second is refused under its name, as it is no moment', async (t) => {
  const since = Type.String({ format: 'date-time' });
  const query = Type.Object({ since }, { additionalProperties: false });
  const validator = new PartValidator('query', query, 'op');
  validator.check({ since: '2026-12-31T23:59:59Z' });
  for (const wrong of ['2026-12-31T23:59:60Z', '2026-02-30T00:00:00Z', 'today']) {
    const message = 'query/since must be a valid date-time';
    t.throws(() => validator.check({ since: wrong }), { code: 'invalid_request', message });
  }
});

t.test('a moment in a year that no answer can write is refused', async (t) => {
  const expires_at = Type.String({ format: 'date-time' });
  const body = Type.Object({ expires_at }, { additionalProperties: false });
  const validator = new PartValidator('body', body, 'op');
  for (const right of ['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z']) {
    validator.check({ expires_at: right });
  }
  for (const wrong of ['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00']) {
    const message = 'body/expires_at must be a valid date-time';
    t.throws(() => validator.check({ expires_at: wrong }), { code: 'invalid_request', message });
  }
});

t.test('a number that JSON cannot write is refused', (t) => {
  const body = Type.Object({ n: Type.Integer({ minimum: 0 }) }, { additionalProperties: false });
  const validator = new PartValidator('body', body, 'op');
  validator.check({ n: 5 });
  const message = 'body/n must be an integer';
  t.throws(() => validator.check(JSON.parse('{"n": 1e400}')), { code: 'invalid_request', message });
  t.end();
});

import t from 'tap';
import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { operation } from '../../../core/operation.ts';
import { asGatewayError } from '../../../core/refusal.ts';
import { Closed } from '../../../core/schemas.ts';
import { OperationHandling } from '../../../plugins/api/handling.ts';
import { parseBody } from '../../../plugins/api/json.ts';
import { OpenCalls } from '../../../plugins/api/open-calls.ts';
import { RateLimiter } from '../../../plugins/api/rate.ts';
import { PartValidator } from '../../../plugins/api/validation.ts';

t.test('the rate of a key', async (t) => {
  const rate = new RateLimiter(10);
  const passed = (key: string, now: number, calls: number) =>
    Array.from({ length: calls }, () => rate.take(key, now)).filter((wait) => wait === 0).length;
  t.equal(passed('a', 0, 30), 20, 'twice the rate at once');
  t.equal(rate.take('a', 0), 0.1, 'then the time until the next one');
  t.equal(passed('a', 99, 1), 0);
  t.equal(passed('a', 100, 2), 1, 'one more after a tenth of a second');
  t.equal(passed('b', 100, 30), 20, 'each key for itself');
  t.equal(passed('a', 9_000, 30), 20, 'never more than the burst');
  t.equal(rate.size, 2);
  t.equal(rate.take('d', 0, 15), 0);
  t.equal(rate.take('d', 0, 10), 0.5, 'a request may cost more');
  t.equal(rate.take('e', 0, 1_000), 0, 'and never more than there can be');
  t.equal(rate.take('e', 0), 0.1);
  rate.take('c', 30_000);
  t.equal(rate.size, 1, 'buckets that are full again are dropped');
  const slow = new RateLimiter(0.25);
  t.equal(slow.take('a', 0), 0);
  t.equal(slow.take('a', 1_000), 3);
});

t.test('strict JSON', async (t) => {
  const good = [
    '{}',
    '[]',
    '"a:b{"',
    '{"a":"\\"","b":{"a":[{"a":1},{"a":":"}]}}',
    '"\\ud83d\\ude00"',
    ' 1 ',
  ];
  for (const text of good) t.strictSame(parseBody(Buffer.from(text)), JSON.parse(text), text);
  const bad: [string | Buffer, RegExp][] = [
    ['', /not valid JSON/],
    ['{', /not valid JSON/],
    ['{"a":1,}', /not valid JSON/],
    ['{"a":"\\"', /not valid JSON/],
    ['\ufeff{}', /not valid JSON/],
    ['{"a":1,"a":2}', /twice/],
    ['{"b":[{"a":1,"\\u0061":2}]}', /twice/],
    ['{"__proto__":1}', /__proto__/],
    ['{"a":{"\\u005f_proto__":{}}}', /__proto__/],
    ['"\\u0000"', /NUL/],
    ['{"\\u0000":1}', /NUL/],
    ['"\\ud800"', /surrogate/],
    ['"\\ude00\\ud83d"', /surrogate/],
    [`${'['.repeat(65)}${']'.repeat(65)}`, /nested/],
    ['['.repeat(200_000), /nested/],
    [Buffer.from([0x22, 0xc3, 0x28, 0x22]), /UTF-8/],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /UTF-8/],
  ];
  for (const [text, message] of bad) {
    t.throws(() => parseBody(Buffer.from(text)), { code: 'invalid_request', message });
  }
});

t.test('an open request schema fails the boot', async (t) => {
  t.throws(() => new PartValidator('body', Type.Object({ a: Type.String() }), 'op'), {
    message: 'the body of operation "op" has an open object (a): make it with Closed()',
  });
});

t.test('a wrong request schema from outside fails the boot', async (t) => {
  const make = (name: object, isTried: boolean) => {
    const declared = operation({
      ...{ id: 'op', method: 'GET', path: '/op', tool: null, group: 'contacts', summary: 'Op' },
      ...{ description: 'Op.', params: null, query: Closed({ name: Type.Unsafe<string>(name) }) },
      ...{ hints: { readOnly: true, destructive: false, idempotent: true }, body: null },
      ...{ answers: {}, errors: [], examples: [], handler: async () => ({ status: 204 }) as never },
    });
    const shared = { bodyLimit: 100, openCalls: new OpenCalls() };
    return new OperationHandling(declared, { ...shared, isTried: () => isTried });
  };
  t.throws(() => make({ type: 'string', minLength: 'two' }, false), /schema is invalid.*minLength/);
  t.throws(() => make({ type: 'string', pattern: '(' }, false), /regular expression/);
  t.ok(make({ type: 'string' }, false));
  t.ok(make({ type: 'string', pattern: '(' }, true), "the gateway's own are tried by its tests");
});

t.test('anything thrown as a refusal', async (t) => {
  const cases: [unknown, string][] = [
    [new GatewayError('loop_guard'), 'loop_guard'],
    [new Error('x'), 'internal_error'],
    [undefined, 'internal_error'],
    ['text', 'internal_error'],
    [Object.assign(new Error('x'), { statusCode: 413 }), 'payload_too_large'],
    [Object.assign(new Error('x'), { statusCode: 405 }), 'invalid_request'],
    [Object.assign(new Error('x'), { statusCode: 502 }), 'internal_error'],
  ];
  for (const [error, code] of cases) t.equal(asGatewayError(error).code, code);
});

import t from 'tap';
import { parseBody, parseEnvelope } from '../../../plugins/api/json.ts';

t.test(
  'a body of strict JSON is read, and one that readers could understand in two ways is refused',
  async (t) => {
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
  },
);

t.test('the refusal of a body names the field', async (t) => {
  const long = 'x'.repeat(200);
  for (const [text, path, message] of [
    ['{"to":{"phone":"\\u0000"}}', 'body/to/phone', /^body\/to\/phone has a NUL/],
    ['{"a":["","\\ud800"]}', 'body/a/1', /^body\/a\/1 has half/],
    ['{"a/b~":{"\\u0000":1}}', 'body/a~1b~0', /^body\/a~1b~0 has a NUL character in a key$/],
    ['{"a":[{"__proto__":1}]}', 'body/a/0', /^body\/a\/0 has a key "__proto__"$/],
    ['"\\u0000"', 'body', /^the body has a NUL/],
    ['{"text":1,"b":2,"text":3}', 'body/text', /^the body has a key twice .*: "text"$/],
    ['{"a":[{},[1,2],{"b":":,","c":1,"\\u0062":2}]}', 'body/a/2/b', /^body\/a\/2 has .*: "b"$/],
    [`{"${long}":1,"${long}":2}`, `body/${long.slice(0, 100)}…`, /^the body .{50,150}…"$/],
  ] as const) {
    const details = [{ path, message }];
    t.throws(() => parseBody(Buffer.from(text)), { message, details }, text);
  }
  const deep = `${'[{"a":'.repeat(9_000)}{"b":1,"b":2}${'}]'.repeat(9_000)}`;
  t.throws(() => parseEnvelope(Buffer.from(deep)), { message: /^body.{100,200}: "b"$/ });
});

t.test(
  'a body whose values are refused one by one may have odd ones, but one reading',
  async (t) => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    for (const text of ['{"a":{"a":1},"b":[{"a":":"}]}', '["\\u0000\\ud800"]', '{"__proto__":1}']) {
      t.strictSame(parseEnvelope(Buffer.from(text)), JSON.parse(text), text);
    }
    t.ok(parseEnvelope(Buffer.from(deep)), 'however deep');
    const bad: [string | Buffer, RegExp][] = [
      ['', /not valid JSON/],
      ['{"b":[{"a":1,"\\u0061":2}]}', /twice/],
      ['{"__proto__":1,"__proto__":2}', /twice/],
      [Buffer.from([0x22, 0xc3, 0x28, 0x22]), /UTF-8/],
    ];
    for (const [text, message] of bad) {
      t.throws(() => parseEnvelope(Buffer.from(text)), { code: 'invalid_request', message });
    }
  },
);

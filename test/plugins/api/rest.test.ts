import t from 'tap';
import { client } from '../../harness/client.ts';
import { keys, sampleGateway, things } from './sample.ts';
import { postSlowly } from './slow-body.ts';

const sample = await sampleGateway();
t.teardown(() => sample.gateway.close());
const api = client(sample.baseUrl, keys.good);
const nobody = client(sample.baseUrl, null);
const right = { to: { phone: '+12025550100' }, text: 'hello' };
const json = { 'content-type': 'application/json' };

t.test('keys', async (t) => {
  const { good, other } = keys;
  const cases: [string, Record<string, string>, number][] = [
    ['X-API-Key', { 'x-api-key': good }, 200],
    ['Bearer', { authorization: `Bearer ${good}` }, 200],
    ['bearer in lower case', { authorization: `bearer  ${good}` }, 200],
    ['both, the same', { 'x-api-key': good, authorization: `Bearer ${good}` }, 200],
    ['both, differing', { 'x-api-key': good, authorization: `Bearer ${other}` }, 401],
    ['none', {}, 401],
    ['a wrong one', { 'x-api-key': 'wrong' }, 401],
    ['an empty one', { 'x-api-key': '' }, 401],
    ['empty bearer', { authorization: 'Bearer ' }, 401],
    ['another scheme', { authorization: `Basic ${good}` }, 401],
    ['another scheme beside a key', { 'x-api-key': good, authorization: 'Basic eA==' }, 200],
    ['the database is away', { 'x-api-key': keys.offline }, 503],
  ];
  for (const [what, headers, status] of cases) {
    const answer = await nobody.get('/things', headers);
    t.equal(answer.status, status, what);
    if (status === 401) {
      t.strictSame(
        JSON.stringify(answer.body),
        '{"success":false,"error_code":401,"error":"Invalid API key"}',
      );
    }
  }
  const early = await nobody.raw({ method: 'POST', path: '/things', body: '{', headers: json });
  t.equal(early.status, 401, 'before anything of the body is read');
});

t.test('a key that is revoked while the body is on its way does nothing', async (t) => {
  const { revoked, requests } = sample.seen;
  const sendSlowly = (meanwhile: () => void) =>
    postSlowly(`${sample.baseUrl}/things`, keys.other, JSON.stringify(right), meanwhile);
  t.equal(await sendSlowly(() => {}), 202, 'a slow body alone is no reason');
  const before = requests.length;
  t.equal(await sendSlowly(() => revoked.add(keys.other)), 401);
  revoked.clear();
  t.equal(requests.length, before);
});

t.test('request ids', async (t) => {
  const echoed = await api.get('/things', { 'x-request-id': 'abc-1.2:3' });
  t.equal(echoed.headers.get('x-request-id'), 'abc-1.2:3');
  for (const odd of ['with space', 'x'.repeat(129), '<script>', 'é']) {
    const made = await api.get('/things', { 'x-request-id': odd });
    t.match(made.headers.get('x-request-id'), /^[0-9a-f-]{36}$/, odd);
  }
  const refused = await api.raw({
    method: 'GET',
    path: '/%zz',
    headers: { 'x-request-id': 'mine' },
  });
  t.equal(refused.headers.get('x-request-id'), 'mine');
});

t.test('unknown paths and methods', async (t) => {
  const cases: [string, string][] = [
    ['GET', '/nothing'],
    ['POST', '/nothing'],
    ['PATCH', '/things'],
    ['HEAD', '/things/'],
    ['OPTIONS', '/things'],
    ['PROPFIND', '/things'],
    ['GET', '/things/'],
    ['GET', '/things//wait'],
    ['GET', '/THINGS'],
    ['GET', ''],
    ['GET', '/../v2/things'],
  ];
  for (const [method, path] of cases) {
    for (const reader of [api, nobody]) {
      if (method === 'HEAD') continue;
      const body = method === 'POST' ? 'text that is not JSON' : null;
      const answer = await reader.raw({ method, path, body });
      t.match(answer, { status: 404, body: { error_code: 'not_found' } }, `${method} ${path}`);
    }
  }
  const outside = await fetch(`${sample.origin}/elsewhere`);
  t.match(await outside.json(), { error_code: 'not_found' }, 'outside /v1');
});

t.test('no answer loses or changes a field', async (t) => {
  const answer = await api.get('/things?limit=2');
  t.strictSame(answer.body, { things, next_cursor: null });
  for (const thing of things) t.strictSame((await api.get(`/things/${thing.id}`)).body, thing);
  const broken = await api.post('/broken-answer');
  t.match(broken, { status: 500, body: { error_code: 'internal_error' } }, 'a wrong answer');
});

t.test('query', async (t) => {
  const good: [string, object][] = [
    ['', { limit: 50 }],
    ['?', { limit: 50 }],
    ['?limit=100&direction=inbound&deep=true', { limit: 100, direction: 'inbound', deep: true }],
    ['?deep=false&before=%F0%9F%98%80', { limit: 50, deep: false, before: '😀' }],
  ];
  for (const [query, expected] of good) {
    t.equal((await api.get(`/things${query}`)).status, 200, query);
    t.same(sample.seen.requests.at(-1), expected, query);
  }
  const bad: [string, string, string][] = [
    ['limit=0', 'query/limit', 'query/limit must be at least 1'],
    ['limit=101', 'query/limit', 'query/limit must be at most 100'],
    ['limit=1.5', 'query/limit', 'query/limit must be an integer'],
    ['limit=', 'query/limit', 'query/limit must be an integer'],
    ['limit=0x5', 'query/limit', 'query/limit must be an integer'],
    ['limit=1e1', 'query/limit', 'query/limit must be an integer'],
    ['limit=1&limit=2', 'query/limit', 'query/limit must be given only once'],
    ['deep=1', 'query/deep', 'query/deep must be a boolean'],
    ['direction=up', 'query/direction', 'query/direction must be one of inbound, outbound'],
    ['foo=1', 'query/foo', 'query has an unknown parameter "foo"'],
    ['before=%00', 'query/before', 'query/before must not contain NUL'],
    ['before=%ff', 'query', 'query is not validly percent-encoded'],
    ['before=', 'query/before', 'query/before must not be empty'],
  ];
  for (const [query, path, message] of bad) {
    const answer = await api.get(`/things?${query}`);
    t.strictSame(
      [answer.status, answer.body],
      [400, { error_code: 'invalid_request', error: message, details: [{ path, message }] }],
      query,
    );
  }
  const both = await api.get('/things?limit=x&foo=1');
  t.equal((both.body as { details: unknown[] }).details.length, 2, 'every mistake is named');
  const none = await api.raw({ method: 'DELETE', path: '/things/1?a=1' });
  t.match(none, { status: 400, body: { error: 'query has an unknown parameter "a"' } });
});

t.test('body', async (t) => {
  const bad: [unknown, string, string][] = [
    [{ ...right, text: 5 }, 'body/text', 'body/text must be a string'],
    [{ ...right, text: '' }, 'body/text', 'body/text must not be empty'],
    [{ ...right, text: '😀'.repeat(41) }, 'body/text', 'body/text must have at most 40 characters'],
    [{ text: 'x' }, 'body/to', 'body/to is required'],
    [{ ...right, to: {} }, 'body/to', 'body/to needs at least one of "phone", "contact_id"'],
    [{ ...right, to: { phone: '+1', x: 1 } }, 'body/to/x', 'body/to has an unknown field "x"'],
    [{ ...right, foo: 1 }, 'body/foo', 'body has an unknown field "foo"'],
    [{ ...right, count: '5' }, 'body/count', 'body/count must be an integer'],
    [{ ...right, count: 6 }, 'body/count', 'body/count must be at most 5'],
    [{ ...right, loud: 'true' }, 'body/loud', 'body/loud must be a boolean'],
    [{ ...right, note: 1 }, 'body/note', 'body/note must be a string or null'],
    [{ ...right, kinds: [] }, 'body/kinds', 'body/kinds must not be empty'],
    [{ ...right, kinds: ['a', 'c'] }, 'body/kinds/1', 'body/kinds/1 must be one of a, b'],
    [{ ...right, kinds: ['a', 'a'] }, 'body/kinds', 'body/kinds must not have the same item twice'],
    [{ ...right, shape: 5 }, 'body/shape', 'body/shape has none of the allowed forms'],
    [{ ...right, shape: { side: 'x' } }, 'body/shape/side', 'body/shape/side must be an integer'],
    [[], 'body', 'body must be an object'],
    [null, 'body', 'body must be an object'],
  ];
  for (const [body, path, message] of bad) {
    const answer = await api.post('/things', body);
    t.strictSame(
      [answer.status, answer.body],
      [400, { error_code: 'invalid_request', error: message, details: [{ path, message }] }],
      message,
    );
  }
  for (const type of ['application/json', 'text/plain', 'garbage', '']) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const empty = await api.raw({ method: 'POST', path: '/things', headers, body: '' });
    t.match(empty, { status: 400, body: { error: 'body/to is required' } }, `empty as ${type}`);
    const optional = await api.raw({ method: 'PUT', path: '/webhooks/fine', headers, body: '' });
    t.equal(optional.status, 200, `an empty optional body as ${type}`);
    for (const body of ['', '{}', ' { } ']) {
      const removed = await api.raw({ method: 'DELETE', path: '/things/1', headers, body });
      t.equal(removed.status, 200, `no body is defined, "${body}" as ${type}`);
    }
    const needless = await api.raw({ method: 'DELETE', path: '/things/1', headers, body: '[]' });
    t.equal(needless.status, 400, 'another body where none is defined');
  }
  for (const type of [
    'application/json; charset=UTF-8',
    'application/vnd.x+json',
    'APPLICATION/JSON',
  ]) {
    const headers = { 'content-type': type };
    const body = JSON.stringify(right);
    t.equal((await api.raw({ method: 'POST', path: '/things', headers, body })).status, 202, type);
  }
  const long = await api.post('/things', { ...right, list: Array(2_000).fill(1) });
  t.equal(
    (long.body as { details: unknown[] }).details.length,
    1,
    'few complaints of a large body',
  );
});

t.test('what a handler is given', async (t) => {
  await api.post('/things', right, {
    'idempotency-key': 'one',
    'x-other': '1',
    'x-request-id': 'r',
  });
  t.strictSame(sample.seen.requests.at(-1), {
    body: right,
    headers: { 'idempotency-key': 'one' },
    caller: 'ten_1',
    requestId: 'r',
  });
  for (const text of ['Größe', Buffer.from('Größe').toString('latin1')]) {
    await api.post('/things', right, { 'idempotency-key': text });
    t.match(sample.seen.requests.at(-1), { headers: { 'idempotency-key': 'Größe' } });
  }
  const long = await api.post('/things', right, { 'idempotency-key': 'x'.repeat(256) });
  t.match(long, {
    status: 400,
    body: { details: [{ path: 'header/idempotency-key' }] },
  });
});

t.test('refusals', async (t) => {
  const refuse = (code: string, body?: object) => api.put(`/webhooks/${code}`, body);
  t.strictSame((await refuse('webhook_not_found')).body, {
    success: false,
    error_code: 'webhook_not_found',
    error: 'There is no webhook with this id or name.',
  });
  const limited = await refuse('rate_limited', { retry_after_s: 1.2 });
  t.match(limited, { status: 429, body: { success: false, retry_after_s: 2 } });
  t.equal(limited.headers.get('retry-after'), '2');
  const busy = await refuse('connection_service_at_capacity');
  t.equal(busy.headers.get('retry-after'), '1');
  t.notOk(Object.hasOwn(busy.body as object, 'retry_after_s'));
  const bug = await refuse('bug');
  t.match(bug, { status: 500, body: { success: false, error_code: 'internal_error' } });
  t.notMatch(JSON.stringify(bug.body), /secret detail/);
  const logged = sample.log.lines.find(
    ({ level, operation }) => level === 50 && operation === 'refuse',
  );
  t.match(logged, {
    requestId: bug.headers.get('x-request-id'),
    err: { message: 'secret detail' },
  });
});

t.test('the log has a line for each request and no key or body', async (t) => {
  await api.post('/things', { ...right, text: 'very private' }, { 'x-request-id': 'logged' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.match(
    sample.log.lines.find(({ requestId }) => requestId === 'logged'),
    { method: 'POST', operation: 'add_thing', status: 202, keyId: String, durationMs: Number },
  );
  const all = JSON.stringify(sample.log.lines).replaceAll(`key_${keys.good}`, '');
  t.notMatch(all, /very private/);
  t.notOk(all.includes(keys.good));
});

t.test('rate', async (t) => {
  const limited = await sampleGateway(5);
  t.teardown(() => limited.gateway.close());
  const reader = client(limited.baseUrl, keys.good);
  const begunAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 40 }, () => reader.get('/things')));
  const most = 10 + (5 * (performance.now() - begunAt)) / 1_000;
  const refused = answers.filter(({ status }) => status === 429);
  const served = answers.length - refused.length;
  t.ok(served >= 10 && served <= most, `a burst of ten: ${served}`);
  t.match(refused[0]?.body, { error_code: 'rate_limited', retry_after_s: 1 });
  t.equal((await client(limited.baseUrl, keys.other).get('/things')).status, 200, 'another key');
});

t.test('wrong keys of an address are slowed, right ones are not', async (t) => {
  const guessed = await sampleGateway();
  t.teardown(() => guessed.gateway.close());
  const wrong = client(guessed.baseUrl, `gw_test_${'x'.repeat(43)}`);
  const right = client(guessed.baseUrl, keys.good);
  const begunAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, () => wrong.get('/things')));
  const most = 50 + (10 * (performance.now() - begunAt)) / 1_000;
  const refused = answers.filter(({ status }) => status === 429);
  const unauthorized = answers.filter(({ status }) => status === 401);
  t.equal(refused.length + unauthorized.length, 200);
  t.ok(
    unauthorized.length >= 50 && unauthorized.length <= most,
    `${unauthorized.length} answered 401`,
  );
  t.match(refused[0]?.body, { error_code: 'rate_limited', retry_after_s: 1 });
  t.equal(refused[0]?.headers.get('retry-after'), '1');
  for (let n = 0; n < 20; n += 1) t.equal((await right.get('/things')).status, 200);
});

t.test('wrong keys are not slowed where that is off', async (t) => {
  const open = await sampleGateway(0, { wrongKeysPerS: 0 });
  t.teardown(() => open.gateway.close());
  const wrong = client(open.baseUrl, `gw_test_${'x'.repeat(43)}`);
  const answers = await Promise.all(Array.from({ length: 200 }, () => wrong.get('/things')));
  t.same([...new Set(answers.map(({ status }) => status))], [401]);
});

t.test('wrong keys are slowed to what is set, five times as many at once', async (t) => {
  const slow = await sampleGateway(0, { wrongKeysPerS: 0.01 });
  const few = await sampleGateway(0, { wrongKeysPerS: 2 });
  for (const [{ baseUrl, gateway }, atOnce, perS] of [
    [slow, 1, 0.01],
    [few, 10, 2],
  ] as const) {
    t.teardown(() => gateway.close());
    const wrong = client(baseUrl, `gw_test_${'x'.repeat(43)}`);
    const begunAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => wrong.get('/things')));
    const most = atOnce + (perS * (performance.now() - begunAt)) / 1_000;
    const served = answers.filter(({ status }) => status === 401).length;
    t.ok(served >= atOnce && served <= most, `${served} at ${perS} a second`);
  }
});

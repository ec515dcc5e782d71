import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { checkRefusal, client } from '../../harness/client.ts';
import { until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';
import { bodyLimit, keys, type SampleGateway, sampleGateway } from './sample.ts';

const sample = await sampleGateway();
t.teardown(() => sample.gateway.close());

function open({ origin }: SampleGateway) {
  return connect(Number(new URL(origin).port), '127.0.0.1');
}

/** Sends bytes as they are and reads until the gateway closes or `Connection: close` was answered. */
async function exchange(bytes: string | Buffer): Promise<{ status: number; body: unknown }> {
  const socket = open(sample);
  socket.on('error', () => undefined);
  socket.write(bytes);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.includes('}')) socket.end();
  });
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [statusLine = '', ...headerLines] = head.split('\r\n');
  const answer = {
    status: Number(statusLine.split(' ')[1]),
    headers: new Headers(headerLines.map((line) => line.split(/: (.*)/s, 2) as [string, string])),
    body: body === '' ? null : JSON.parse(body),
  };
  await checkRefusal(sample.baseUrl, answer);
  return answer;
}

const host = 'Host: x\r\n';
const auth = `${host}X-API-Key: ${keys.good}\r\n`;

t.test('what is no proper HTTP', async (t) => {
  const post = `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`;
  const cases: [string, string | Buffer, number, string][] = [
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400, 'invalid_request'],
    ['an unknown method', `FOO /v1/things HTTP/1.1\r\n${auth}\r\n`, 404, 'not_found'],
    ['a method in lower case', `get /v1/things HTTP/1.1\r\n${auth}\r\n`, 404, 'not_found'],
    ['a method that no route has', `PURGE /v1/things HTTP/1.1\r\n${auth}\r\n`, 404, 'not_found'],
    ['a word that is no method', `FOO(/v1/things) HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_request'],
    [
      'an unknown expectation',
      `GET /v1/things HTTP/1.1\r\n${auth}Expect: cake\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['no Host', 'GET /v1/things HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['a broken header', `GET / HTTP/1.1\r\n${host}a b\r\n\r\n`, 400, 'invalid_request'],
    [
      'a huge header',
      `GET / HTTP/1.1\r\n${host}a: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'many headers',
      `GET / HTTP/1.1\r\n${host}${`a: ${'b'.repeat(90)}\r\n`.repeat(300)}\r\n`,
      431,
      'headers_too_large',
    ],
    ['a huge path', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 414, 'uri_too_long'],
    [
      'a long parameter',
      `GET /v1/things/${'x'.repeat(600)} HTTP/1.1\r\n${auth}\r\n`,
      414,
      'uri_too_long',
    ],
    ['a malformed path', `GET /v1/things/%zz HTTP/1.1\r\n${auth}\r\n`, 400, 'invalid_request'],
    [
      'invalid UTF-8 in a path',
      `GET /v1/things/%c3%28 HTTP/1.1\r\n${auth}\r\n`,
      400,
      'invalid_request',
    ],
    ['NUL in a path', `GET /v1/things/%00 HTTP/1.1\r\n${auth}\r\n`, 400, 'invalid_request'],
    [
      'two lengths',
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
      'invalid_request',
    ],
    [
      'a broken chunk',
      `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      400,
      'invalid_request',
    ],
    [
      'a large length',
      `${post}Content-Length: ${bodyLimit + 1}\r\n\r\n{}`,
      413,
      'payload_too_large',
    ],
    [
      'large chunks',
      `${post}Transfer-Encoding: chunked\r\n\r\n${'1000\r\n'.concat('x'.repeat(4096), '\r\n').repeat(4)}0\r\n\r\n`,
      413,
      'payload_too_large',
    ],
    ['no chunks', `${post}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'invalid_request'],
    [
      'a body with GET',
      `GET /v1/things HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n[]`,
      400,
      'invalid_request',
    ],
    [
      'two Authorization headers',
      `GET /v1/things HTTP/1.1\r\n${host}Authorization: Bearer ${keys.good}\r\nauthorization: Bearer other\r\n\r\n`,
      401,
      '401',
    ],
    [
      'two keys in X-API-Key',
      `GET /v1/things HTTP/1.1\r\n${auth}x-api-key: other\r\n\r\n`,
      401,
      '401',
    ],
    [
      'two keys in X-API-Key beside a right one',
      `GET /v1/things HTTP/1.1\r\n${auth}x-api-key: other\r\nAuthorization: Bearer ${keys.good}\r\n\r\n`,
      401,
      '401',
    ],
  ];
  for (const [what, bytes, status, code] of cases) {
    const answer = await exchange(bytes);
    t.equal(answer.status, status, what);
    t.equal(String((answer.body as { error_code: unknown }).error_code), code, what);
  }
  const fine: [string, string][] = [
    ['{} with GET', `${auth}Content-Length: 2\r\n\r\n{}`],
    ['the same key twice', `${auth}x-api-key: ${keys.good}\r\n\r\n`],
    [
      'the same key in three headers',
      `${auth}x-api-key: ${keys.good}\r\nAuthorization: Bearer ${keys.good}\r\n\r\n`,
    ],
  ];
  for (const [what, rest] of fine) {
    const request = `GET /v1/things/thg_1 HTTP/1.1\r\n${rest}`;
    const answered = await exchange(request).catch((error: Error) => error.message);
    t.match(answered, /answered 200/, what);
  }
});

t.test('a refused expectation waits for the answers before it', async (t) => {
  const socket = open(sample);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const bound = setTimeout(() => socket.destroy(), 20_000);
  const first = `GET /v1/things/thg_1 HTTP/1.1\r\n${auth}\r\n`;
  socket.write(`${first}GET /v1/things HTTP/1.1\r\n${auth}Expect: cake\r\n\r\n`);
  await once(socket, 'close');
  clearTimeout(bound);
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  t.same(statuses, ['200', '400']);
});

t.test('a header of an operation is given once', async (t) => {
  const body = JSON.stringify({ to: { phone: '+12025550100' }, text: 'hello' });
  const post = (...given: readonly string[]) =>
    exchange(
      `POST /v1/things HTTP/1.1\r\n${auth}Content-Type: application/json\r\n${given
        .map((value) => `Idempotency-Key: ${value}\r\n`)
        .join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  const path = 'header/idempotency-key';
  const message = `${path} must be given only once`;
  for (const twice of [
    ['a', 'b'],
    ['a', 'a'],
    ['', 'a'],
  ]) {
    const answer = await post(...twice);
    t.match(answer, { status: 400, body: { error: message, details: [{ path, message }] } });
  }
  const once = await post('a, b').catch((error: Error) => error.message);
  t.match(once, /answered 202/, 'one may have a comma');
});

t.test('a path of the webhook group that cannot be read is refused in its shape', async (t) => {
  for (const [path, status] of [
    [`/v1/webhooks/${'x'.repeat(501)}`, 414],
    ['/v1/webhooks/%fc', 400],
  ] as const) {
    const answer = await exchange(`PUT ${path} HTTP/1.1\r\n${auth}Content-Length: 0\r\n\r\n`);
    t.match(answer, { status, body: { success: false } });
  }
  for (const target of [
    'PATCH /v1/webhooks/wh_x',
    'DELETE /v1/webhooks',
    'DELETE /v1/webhooks?all=true',
    'POST /v1/webhooks/x/nope',
  ]) {
    const answer = await exchange(`${target} HTTP/1.1\r\n${auth}Content-Length: 0\r\n\r\n`);
    t.match(answer, { status: 404, body: { success: false } }, target);
  }
  const expecting = await exchange(`GET /v1/webhooks HTTP/1.1\r\n${auth}Expect: cake\r\n\r\n`);
  t.match(expecting, { status: 400, body: { success: false } }, 'an unknown expectation');
  const beside = await exchange(`GET /v1/webhooksx HTTP/1.1\r\n${auth}\r\n`);
  t.notOk(Object.hasOwn(beside.body as object, 'success'));
  const other = await exchange(`GET /v1/things/%fc HTTP/1.1\r\n${auth}\r\n`);
  t.notOk(Object.hasOwn(other.body as object, 'success'));
});

t.test('a client that goes away aborts its call', async (t) => {
  for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
    sample.seen.aborts.length = 0;
    const waits = sample.seen.requests.length;
    const socket = open(sample);
    socket.on('error', () => undefined);
    socket.write(`GET /v1/things/wait HTTP/1.1\r\n${auth}\r\n`);
    await until('the wait', async () => sample.seen.requests.length > waits || undefined);
    socket[leave]();
    const hasAborted = async () => sample.seen.aborts.length > 0 || undefined;
    await doneWithin(t, 1_000, 'aborted', () => until(`the abort after ${leave}`, hasAborted));
    t.strictSame(sample.seen.aborts, ['AbortError']);
  }
  await sleep(50);
  t.notOk(
    sample.log.lines.some(({ level }) => level === 50),
    'and is no error of ours',
  );
});

t.test('a gateway that stops answers what is open', async (t) => {
  const stopping = await sampleGateway();
  const waiting = client(stopping.baseUrl, keys.good).get('/things/wait');
  await until('the wait', async () => stopping.seen.requests.length > 0 || undefined);
  await stopping.gateway.close();
  t.match(await waiting, { status: 503, body: { error_code: 'unavailable' } });
});

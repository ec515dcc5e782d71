import { getEventListeners, setMaxListeners } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { EgressPost } from '../../../plugins/egress/contract.ts';
import type { GuardedEgress } from '../../../plugins/egress/egress.ts';
import type { TargetRules } from '../../../plugins/egress/target.ts';
import { scaled } from '../../harness/scale.ts';
import { until } from '../../harness/story.ts';
import {
  badBodies,
  badReceivers,
  badTlsReceivers,
  httpReceiver,
  httpsReceiver,
  rawReceiver,
} from './receivers.ts';
import { type Listener, listen, listenOnly, openEgress } from './world.ts';

const open: TargetRules = { allowHttp: true, isAllowed: () => true };
const sending = {
  headers: { 'content-type': 'application/json', 'x-webhook-event': 'message.sent' },
  body: '{"text":"grüße"}',
  timeoutMs: 5_000,
  connectTimeoutMs: 5_000,
};

const okReceiver = () => httpReceiver((_, response) => response.end('ok'));

/** Sends a request; answers also how many milliseconds that took. */
async function timed(egress: GuardedEgress, request: EgressPost) {
  const begun = performance.now();
  const outcome = await egress.post(request);
  return { outcome, tookMs: performance.now() - begun };
}

/** Waits until a receiver has no connection any more. */
async function allClosed(receiver: Listener): Promise<void> {
  await until('the connections to close', async () => receiver.open() === 0 || undefined);
}

setFlagsFromString('--expose-gc');
// The flag is for contexts made after it.
const collect: () => void = runInNewContext('gc');

async function heldMegabytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect();
    await sleep(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

t.test('a good receiver', async (t) => {
  const requests: unknown[] = [];
  const server = httpReceiver((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(201).end(`${'x'.repeat(1_022)}é and more`);
    });
  });
  const receiver = await listen(t, server);
  const egress = openEgress(t, open, async () => ['127.0.0.1']);
  const url = `http://hooks.test:${receiver.port}/path?q=1#fragment`;
  for (let request = 0; request < 50; request += 1) {
    const outcome = await egress.post({ url, ...sending });
    const text = `${'x'.repeat(1_022)}é`;
    t.match(outcome, { answered: true, answer: { status: 201, text } });
  }
  t.equal(receiver.connections(), 1, 'fifty requests, one connection');
  const host = `hooks.test:${receiver.port}`;
  t.match(requests[0], {
    method: 'POST',
    url: '/path?q=1',
    headers: { ...sending.headers, host, 'content-length': '18' },
    body: sending.body,
  });
  await Promise.all(Array.from({ length: 10 }, () => egress.post({ url, ...sending })));
  t.equal(receiver.connections(), 10, 'ten at once wait for none of the others');
  const oneByOne = async (count: number): Promise<void> => {
    const successive = { url, ...sending, hasSuccessor: true };
    for (let request = 0; request < count; request += 1) await egress.post(successive);
  };
  await Promise.all(Array.from({ length: 10 }, () => oneByOne(20)));
  t.equal(receiver.connections(), 10, 'nor do ten, one after the other, open further ones');

  await egress.close();
  await egress.close();
  t.match(await egress.post({ url, ...sending }), { failure: { kind: 'connection' } });
  await allClosed(receiver);
});

t.test('answers are kept short and as they came', async (t) => {
  const packed = gzipSync('hello');
  const bodies: Readonly<Record<string, () => Buffer>> = {
    '/cut': () => Buffer.from(`${'x'.repeat(1_023)}é`),
    '/gzip': () => packed,
    '/broken': () => Buffer.from([0x61, 0xff, 0x62]),
    '/empty': () => Buffer.alloc(0),
    '/large': () => Buffer.alloc(60_000, 'y'),
  };
  const server = httpReceiver((request, response) => {
    const headers = request.url === '/gzip' ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, headers).end(bodies[request.url ?? '']?.());
  });
  const receiver = await listen(t, server);
  const egress = openEgress(t, open);
  const text = async (path: string): Promise<string> => {
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    const outcome = await egress.post({ url, ...sending });
    return outcome.answered ? outcome.answer.text : outcome.failure.message;
  };
  t.equal(await text('/cut'), 'x'.repeat(1_023), 'no half character');
  t.equal(await text('/gzip'), packed.toString(), 'nothing is unpacked');
  t.equal(await text('/broken'), 'a\ufffdb');
  t.equal(await text('/empty'), '');
  t.equal(await text('/large'), 'y'.repeat(1_024));
  t.equal(receiver.connections(), 1);
});

t.test('a receiver that answers 200 has the delivery, whatever follows its head', async (t) => {
  const egress = openEgress(t, open);
  const good = await listen(t, okReceiver());
  for (const [name, speak] of Object.entries(badBodies)) {
    const receiver = await listen(t, rawReceiver(speak));
    const url = `http://127.0.0.1:${receiver.port}/`;
    const isSlow = name === 'drips' || name === 'stalls';
    const timeoutMs = isSlow ? 2_000 : sending.timeoutMs;
    const goodUrl = `http://127.0.0.1:${good.port}/`;
    const [{ outcome, tookMs }, beside] = await Promise.all([
      timed(egress, { url, ...sending, timeoutMs }),
      timed(egress, { url: goodUrl, ...sending }),
    ]);
    t.match(beside.outcome, { answered: true });
    t.match(outcome, { answered: true, answer: { status: 200 } }, `a body that ${name}`);
    const mostMs = (isSlow ? timeoutMs : 0) + 2_000 + beside.tookMs;
    t.ok(tookMs < mostMs, 'without waiting for longer than the time-out');
    await allClosed(receiver);
  }
});

t.test('bad receivers fail in time and leave nothing behind', async (t) => {
  // Nobody's authority signed the certificate of the tests.
  const distrustful = openEgress(t, open, async () => ['127.0.0.1'], null);
  const trusting = openEgress(t, open, async () => ['127.0.0.1']);
  const all = [
    ...Object.entries(badReceivers).map(([name, one]) => ({ name, scheme: 'http', ...one })),
    ...Object.entries(badTlsReceivers).map(([name, one]) => ({ name, scheme: 'https', ...one })),
  ];
  const receivers = await Promise.all(
    all.map(async (one) => ({ ...one, listener: await listen(t, one.server()) })),
  );
  const answering = await listen(t, okReceiver());
  const round = async (): Promise<void> => {
    const goodUrl = `http://hooks.test:${answering.port}/`;
    const beside = timed(distrustful, { url: goodUrl, ...sending });
    // A process that is kept off the processor is late with everything.
    const held = monitorEventLoopDelay();
    held.enable();
    await Promise.all(
      receivers.map(async ({ name, scheme, kind, listener }) => {
        const url = `${scheme}://hooks.test:${listener.port}/`;
        // Whoever is to run into a time-out has a short one.
        const times = kind === 'timeout' ? { timeoutMs: 250, connectTimeoutMs: 200 } : {};
        const { outcome, tookMs } = await timed(distrustful, { url, ...sending, ...times });
        const failure = outcome.answered ? null : outcome.failure;
        if (failure?.kind !== kind) t.fail(`${name}: ${JSON.stringify(outcome)}`);
        const slackMs = 2_000 + held.max / 1e6;
        if (tookMs > slackMs + (await beside).tookMs) t.fail(`${name} took ${tookMs} ms`);
        if (/\d+\.\d+\.\d+/.test(failure?.message ?? '')) t.fail(`${name}: ${failure?.message}`);
      }),
    );
    held.disable();
    if (!(await beside).outcome.answered) t.fail('the good one among them');
  };
  const openNow = (): number => receivers.reduce((sum, { listener }) => sum + listener.open(), 0);
  const several = async (rounds: number): Promise<void> => {
    for (let n = 0; n < rounds; n += 2) await Promise.all([round(), round()]);
    const patience = performance.now() + 5_000;
    while (openNow() > 0 && performance.now() < patience) await sleep(20);
    t.equal(openNow(), 0, 'every connection is closed');
  };
  await several(2);
  const before = await heldMegabytes();
  const rounds = scaled(320);
  await several(rounds);
  const grown = (await heldMegabytes()) - before;
  t.comment(`${grown.toFixed(2)} MB more`);
  t.ok(grown < 2, `${rounds * receivers.length} failures hold ${grown.toFixed(2)} MB more`);

  const good = await listen(
    t,
    httpsReceiver((_, response) => response.end('ok')),
  );
  const url = (host: string): string => `https://${host}:${good.port}/`;
  for (const host of ['hooks.test', 'hooks.test', '127.0.0.1']) {
    const outcome = await trusting.post({ url: url(host), ...sending });
    t.match(outcome, { answered: true, answer: { status: 200, text: 'ok' } }, host);
  }
  t.equal(good.connections(), 2, 'TLS is kept too');
  const other = await trusting.post({ url: url('other.test'), ...sending });
  t.match(other, { failure: { kind: 'tls', message: /ALTNAME/ } }, 'a certificate of another name');
});

t.test('thousands of requests leave no listener, timer or memory', async (t) => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => {
    warnings.push(message);
  };
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  const receiver = await listen(t, okReceiver());
  const egress = openEgress(t, open);
  const url = `http://127.0.0.1:${receiver.port}/`;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const many = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 20) {
      const ones = Array.from({ length: 20 }, () =>
        egress.post({ url, ...sending, timeoutMs: 60_000, signal }),
      );
      for (const outcome of await Promise.all(ones)) {
        if (!outcome.answered) t.fail(outcome.failure.message);
      }
    }
  };
  await many(1_000);
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const [before, timersBefore] = [await heldMegabytes(), timers()];
  const count = scaled(40_000);
  await many(count);
  const grown = (await heldMegabytes()) - before;
  t.comment(`${grown.toFixed(2)} MB more`);
  t.ok(grown < 2, `${count} requests hold ${grown.toFixed(2)} MB more`);
  t.ok(timers() <= timersBefore + 5, `${timersBefore} timers before, ${timers()} after`);
  t.ok(receiver.connections() <= 20, `${receiver.connections()} connections`);
  t.same(warnings, []);
  t.equal(getEventListeners(signal, 'abort').length, 0, 'no listener is left at the signal');
});

t.test('callers and the gateway cut requests short', async (t) => {
  const silent = await listenOnly(t);
  const egress = openEgress(t, open, async () => ['127.0.0.1']);
  const url = `http://127.0.0.1:${silent.port}/`;
  const patient = { ...sending, timeoutMs: 60_000, connectTimeoutMs: 60_000 };
  const failed = { answered: false, failure: { kind: 'connection' } };

  t.match(await egress.post({ url, ...patient, signal: AbortSignal.abort() }), failed);
  t.equal(silent.connections(), 0);
  t.match(await egress.post({ url, ...patient, signal: AbortSignal.timeout(50) }), failed);
  const secure = `https://hooks.test:${silent.port}/`;
  const cut = egress.post({ url: secure, ...patient, signal: AbortSignal.timeout(50) });
  t.match(await cut, failed, 'while TLS is being made');

  const waiting = [url, secure, url].map((one) => egress.post({ url: one, ...patient }));
  await sleep(50);
  await egress.close();
  for (const outcome of await Promise.all(waiting)) t.match(outcome, failed);
  await allClosed(silent);
});

t.test('a file streams, and all of it has one time-out', async (t) => {
  let written = 0;
  const server = httpReceiver((request, response) => {
    response.setHeader('Content-Type', 'image/png');
    response.setHeader('X-Two', ['a', 'b']);
    if (request.url === '/short') response.end('abc');
    else if (request.url === '/dies') response.write('abc', () => response.destroy());
    else {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
      };
      response.on('drain', more);
      more();
    }
  });
  const receiver = await listen(t, server);
  const egress = openEgress(t, open);
  const fetch = async (path: string, timeoutMs = 5_000) => {
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    const outcome = await egress.get({ url, timeoutMs, connectTimeoutMs: 500 });
    if (!outcome.answered) throw new Error(outcome.failure.message);
    return outcome.answer;
  };
  const short = await fetch('/short');
  t.equal(short.status, 200);
  t.match(short.headers, { 'content-type': 'image/png', 'x-two': 'a, b' });
  t.equal(Buffer.concat(await short.body.toArray()).toString(), 'abc');

  const dying = await fetch('/dies');
  await t.rejects(dying.body.toArray(), { cause: { kind: 'connection' } });

  const unread = await fetch('/endless', 2_000);
  await sleep(150);
  const ahead = written;
  t.ok(ahead < 20_000_000, `${ahead} bytes ahead of a reader that does not read`);
  await sleep(2_000);
  await t.rejects(unread.body.toArray(), { cause: { kind: 'timeout' } });

  const enough = await fetch('/endless');
  for await (const _ of enough.body) break;
  await allClosed(receiver);
  t.ok(enough.body.destroyed);

  const none = await egress.get({
    url: 'http://127.0.0.1:1/',
    timeoutMs: 500,
    connectTimeoutMs: 500,
  });
  t.match(none, { answered: false, failure: { kind: 'connection', message: /refused/ } });
});

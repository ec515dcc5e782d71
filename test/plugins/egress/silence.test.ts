import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { listen, openEgress } from './world.ts';

const silenceMs = 4_000;
const part = Buffer.alloc(65_536);

t.test('a GET whose server sends nothing for too long', { timeout: 60_000 }, async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/silent') return;
    response.writeHead(200);
    if (request.url === '/stalls') response.write('abc');
    else if (request.url === '/drips') {
      let left = 20;
      const timer = setInterval(() => (left-- > 0 ? response.write('x') : response.end()), 250);
      response.on('close', () => clearInterval(timer));
    } else {
      for (let n = 0; n < 40; n += 1) response.write(part);
      response.end();
    }
  });
  const { port } = await listen(t, server);
  const egress = openEgress(t, { allowHttp: true, isAllowed: () => true });
  const ask = (path: string) =>
    egress.get({
      url: `http://127.0.0.1:${port}${path}`,
      timeoutMs: 20_000,
      connectTimeoutMs: 5_000,
      silenceMs,
    });
  const read = async (path: string, pauseMs = 0) => {
    const outcome = await ask(path);
    if (!outcome.answered) throw new Error(outcome.failure.message);
    await sleep(pauseMs);
    return Buffer.concat(await outcome.answer.body.toArray()).length;
  };
  const message = 'The server sent nothing for 4 s.';
  await Promise.all([
    t.resolveMatch(ask('/silent'), { answered: false, failure: { kind: 'timeout', message } }),
    t.rejects(read('/stalls'), { cause: { kind: 'timeout', message } }, 'in the middle'),
    t.resolveMatch(read('/drips'), 20, 'slow, but never silent'),
    t.resolveMatch(read('/large', 2 * silenceMs), 40 * part.length, 'the reader was silent'),
  ]);
});

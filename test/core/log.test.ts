import t from 'tap';
import { CurrentRequest } from '../../core/current-request.ts';
import { createLog, setLogLevel } from '../../core/log.ts';

t.test('the log stars secrets out', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  log.debug('too quiet');
  log.info({ headers: { authorization: 'hidden', 'x-api-key': 'hidden' } }, 'a request');
  log.child({ plugin: 'x' }).info({ body: { password: 'hidden', code: 'hidden' } }, 'a login');
  t.equal(lines.length, 2);
  t.notMatch(lines.join(''), /hidden/);
  t.match(lines[1], /"plugin":"x"/);
  log.warn({ err: Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }) }, 'an error');
  t.match(lines[2], /ECONNREFUSED/, 'an error keeps its code');
});

t.test('no line repeats an address that could not be read', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const refused = (): unknown => {
    try {
      return new URL('amqp://user:hid#den@host');
    } catch (error) {
      return error;
    }
  };
  log.error({ err: refused() }, 'as it is');
  log.child({ plugin: 'x' }).error({ err: new Error('no', { cause: refused() }) }, 'as a cause');
  log.error({ err: Object.assign(new Error('no'), { wrong: refused() }) }, 'as a field');
  log.error({ err: new AggregateError([refused()]) }, 'as one of several');
  log.fatal(refused());
  t.equal(lines.length, 5);
  for (const line of lines) {
    t.notMatch(line, /hid#den/);
    t.match(line, /Invalid URL/);
  }
});

t.test('a level that changes is that of every log made before and after', async (t) => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(line) });
  const child = log.child({ plugin: 'x' });
  const grandchild = child.child({ account: 'y' });
  const all = () => [log, child, grandchild, grandchild.child({ later: true })];
  const said = () => {
    lines.length = 0;
    for (const one of all()) one.debug('a detail');
    return lines.length;
  };
  t.equal(said(), 0);
  setLogLevel(log, 'debug');
  t.equal(said(), 4);
  t.ok(child.isLevelEnabled('debug'));
  setLogLevel(log, 'warn');
  t.equal(said(), 0);
});

t.test('a line below a request names it and its trace, until it is answered', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) }).child({ plugin: 'x' });
  const traceId = 'a'.repeat(32);
  const request = new CurrentRequest('one', `00-${traceId}-${'b'.repeat(16)}-01`);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const session = request.follow(async () => {
    await new Promise(setImmediate);
    log.info({ account: 'acc' }, 'below');
    await answered;
    log.info('later');
  });
  await new Promise(setImmediate);
  log.info('beside');
  request.end();
  answer();
  await session;
  const facts = lines.map((line): Record<string, unknown> => JSON.parse(line));
  t.match(facts, [
    { msg: 'below', plugin: 'x', account: 'acc', requestId: 'one', traceId },
    { msg: 'beside', requestId: undefined },
    { msg: 'later', requestId: undefined },
  ]);
});

import t from 'tap';
import { createLog } from '../../core/log.ts';

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

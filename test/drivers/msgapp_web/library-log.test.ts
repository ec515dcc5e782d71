import t from 'tap';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';

t.test('what the library says is logged without phone numbers and facts', async (t) => {
  const lines = new LogLines();
  const log = libraryLog(lines, 'acc_1').child({ class: 'signal' });
  log.warn('Invalid LID-PN mapping: 99887766554433:99@hosted.lid, 4915112345678:99@hosted');
  log.error({ key: 'secret', jid: '4915112345678@s.whatsapp.net' }, 'stream errored out: 515');
  log.info('4915112345678 is nothing to complain about');
  const [mapping, error, ...rest] = lines.lines;
  t.match(mapping, 'Invalid LID-PN mapping: …4433:99@hosted.lid, …5678:99@hosted');
  t.match(error, 'stream errored out: 515');
  t.same(rest, []);
  t.notMatch(error, /secret|5678/);
});

t.test('a collection of settings that the library gives up is told', async (t) => {
  const givenUp: string[] = [];
  const log = libraryLog(new LogLines(), 'acc_1', (collection) => givenUp.push(collection));
  log.warn({}, 'regular blocked on missing key from v0, parking after 2 attempts');
  log.info({}, 'failed to sync regular from v0, forcing snapshot retry');
  log.warn({}, 'failed to sync critical_unblock_low from v0, giving up');
  t.same(givenUp, ['critical_unblock_low']);
});

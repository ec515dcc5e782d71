import t from 'tap';
import { DriverError } from '../../../../core/contracts/driver.ts';
import { createLog } from '../../../../core/log.ts';
import { Conversations } from '../../../../plugins/messages/dispatch/conversations.ts';
import { Pauses } from '../../../../plugins/messages/dispatch/pauses.ts';
import { Sends } from '../../../../plugins/messages/dispatch/sends.ts';
import { FakeSession } from '../stage.ts';

t.test('the log says why a message was not sent, without a number in full', async (t) => {
  const lines: string[] = [];
  const session = new FakeSession('ten_1', 'acc_1', 'process');
  const sends = new Sends(session, {
    conversations: new Conversations(1),
    pauses: new Pauses(() => undefined),
    log: createLog('info', { write: (line) => lines.push(line) }),
    ended: () => undefined,
  });
  const message = {
    ...{ reference: 'msg_1', attempt: 1, text: 'Hello', media: null, trace: null },
    to: { phone: '+12025550123', networkId: null },
  };
  const fail = async (cause?: unknown) => {
    session.answer = async () => {
      throw new DriverError('not_uploaded', 'the media was not uploaded', { certain: true, cause });
    };
    sends.begin('con_1', message);
    await sends.over();
    return JSON.parse(lines.pop() ?? '{}');
  };
  const cause = new Error('no answer for +12025550123', { cause: new Error('socket hang up') });
  const line = { msg: 'a message was not sent', account: 'acc_1', message: 'msg_1' };
  t.match(await fail(cause), {
    ...line,
    ...{ code: 'not_uploaded', certain: true, because: 'no answer for …0123: socket hang up' },
  });
  t.notOk('because' in (await fail()), 'nothing more is known');
});

import t from 'tap';
import { createLog } from '../../../../core/log.ts';
import { InterruptibleSleep } from '../../../../plugins/messages/dispatch/interruptible-sleep.ts';
import type { SendOutcome } from '../../../../plugins/messages/dispatch/outcome.ts';
import { StepWriter } from '../../../../plugins/messages/dispatch/step-writer.ts';
import { FakeSession } from '../stage.ts';

const traceId = '5'.repeat(32);

t.test('the line of an answer that cannot be stored names its trace', async (t) => {
  const lines: string[] = [];
  const session = new FakeSession('ten_1', 'acc_1', 'process');
  const parts = {
    log: createLog('info', { write: (line) => lines.push(line) }),
    async step(_: unknown, take: () => { readonly outcomes: readonly SendOutcome[] }) {
      const [outcome] = take().outcomes;
      const isNamed = outcome?.kind === 'sent' && outcome.networkId !== null;
      if (isNamed) throw new Error('another message has this id');
      return { held: true, next: [], left: [] } as const;
    },
  };
  const writer = new StepWriter(session, parts, new InterruptibleSleep(session.signal));
  const sent = { kind: 'sent', id: 'msg_1', networkId: 'n1', at: 1 } as const;
  const traced = { ...sent, trace: `00-${traceId}-${'6'.repeat(16)}-01` };
  const step = { outcomes: [traced], next: [], deduplicates: true, closedToStrangers: null };
  t.ok(
    await writer.write(
      () => step,
      () => false,
    ),
  );
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ message: 'msg_1', account: 'acc_1', traceId, msg: /without its network's id/ }],
  );
});

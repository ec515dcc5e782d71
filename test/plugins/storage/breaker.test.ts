import t from 'tap';
import { createLog } from '../../../core/log.ts';
import { Breaker } from '../../../plugins/storage/breaker.ts';
import { unavailable } from '../../../plugins/storage/faults.ts';
import { until } from '../../harness/story.ts';

function failed(code: string, message = code): Error {
  return Object.assign(new Error(message), { code });
}

t.test('why the circuit stays open is logged once when it is another reason', async (t) => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(line) });
  const logged = () => lines.map((line) => JSON.parse(line));
  /** What the probes meet, one after the other, before one passes. */
  const met = [
    failed('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.2'),
    failed('ER_NO_SUCH_TABLE', 'no table for the first probe'),
    unavailable(failed('ER_NO_SUCH_TABLE', 'no table for the second one')),
  ];
  const causes: unknown[] = [];
  const breaker = new Breaker({
    write: async () => {
      causes.push(breaker.refusal('read')?.cause);
      const error = met[causes.length - 1];
      if (error !== undefined) throw error;
    },
    opened: () => undefined,
    renew: () => undefined,
    log,
  });
  t.teardown(() => breaker.stop());
  breaker.recordFailure(failed('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1'));
  await until('the circuit to close', async () => breaker.allows('write') || undefined);
  t.match(
    causes,
    ['ECONNREFUSED', 'ECONNREFUSED', 'ER_NO_SUCH_TABLE', 'ER_NO_SUCH_TABLE'].map((code) => ({
      code,
    })),
    'requests are refused with the reason of the last probe',
  );
  t.match(logged(), [
    { msg: /^the database does not answer/, err: { code: 'ECONNREFUSED' } },
    { level: 40, msg: /another reason/, err: { code: 'ER_NO_SUCH_TABLE' } },
    { msg: 'the database answers again' },
  ]);
  t.equal(lines.length, 3, 'a reason that stays is not repeated');
});

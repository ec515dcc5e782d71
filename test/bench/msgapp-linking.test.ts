import t from 'tap';
import { startProcess } from '../harness/processes.ts';
import { scaled } from '../harness/scale.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const accounts = scaled(50, 5);
const { url, control, rootPublicKey } = (await startNetwork(t)).places;

t.test('linking an account neither stops the others nor leaves memory behind', async (t) => {
  const program = 'test/networks/msgapp_web/linking-cost.ts';
  const values = [String(accounts), url, control, rootPublicKey];
  const started = startProcess(t, ['--expose-gc', program, ...values]);
  const [line = ''] = await started.waitFor(/^\{"stop.*\}$/m, 600_000);
  const { stop, own, afterLinking, afterRestart }: Record<string, number> = JSON.parse(line);
  t.comment(`${accounts} accounts: ${line}`);
  t.ok(stop !== undefined && own !== undefined && stop < own * 0.7, 'keys are made in slices');
  t.ok(
    afterLinking !== undefined && afterRestart !== undefined && afterLinking < afterRestart * 1.5,
    'an account that was just linked costs what a restarted one does',
  );
});

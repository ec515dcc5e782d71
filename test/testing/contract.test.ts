import t from 'tap';
import { startProcess } from '../harness/processes.ts';
import { wrongDrivers } from './wrong-drivers.ts';

/** The part of the suite that finds each fault, and the clauses in which the driver fails, nothing else. */
const found: Readonly<Record<string, readonly [part: string, ...clauses: string[]]>> = {
  'counts the messages of each session': ['receiving', 'every message has an id of its own'],
  'makes references of its own in each process': [
    'restarting',
    'a send is repeated after a restart, shown once',
  ],
  'forgets a restriction when it restarts': [
    'restarting',
    'a restriction is lifted after a restart',
    'a restriction is lifted while away',
  ],
  'says of every log-out that it was one': [
    'resuming',
    'logging out before resuming, and out of reach',
  ],
  'says of every log-out that it was none': [
    'resuming',
    'logging out ends the link on both sides',
    'logging out before resuming, and out of reach',
  ],
};

t.same(Object.keys(found).sort(), Object.keys(wrongDrivers).sort());
for (const [fault, [part, ...clauses]] of Object.entries(found)) {
  t.test(`a driver that ${fault}`, async (t) => {
    const program = 'test/testing/wrong-driver-process.ts';
    const env = { TAP: '1', TAP_GREP: `: (${part}|nothing secret .*)$` };
    const suite = startProcess(t, [program, fault], env);
    await suite.waitFor(/^# time=/m, 120_000);
    const failed = suite.output.matchAll(/^ {4}not ok \d+ - (.*) # time/gm);
    t.same(
      [...failed].map(([, clause]) => clause),
      clauses,
    );
  });
}

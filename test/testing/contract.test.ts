import t from 'tap';
import type { DriverFactory } from '../../core/contracts/driver.ts';
import { LogLines } from '../../testing/contract/driver/log-lines.ts';
import { driverContract, MemoryPort } from '../../testing/contract/driver.ts';
import { simulatedContract } from '../../testing/kit/simulated-contract.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { startProcess } from '../harness/processes.ts';
import { unusualDrivers, wrongDrivers } from './wrong-drivers.ts';

/** The clauses of the part `closing` in which contacts write. */
const exchanges = [
  'close is silent: no byte, no event, no acknowledgement',
  'sessions side by side do not know each other',
];

const anew = 'a session can be linked again, and forgets its earlier link';

/** All clauses of the part `closing`: each links a session. */
const sessions = [
  'close is silent: no byte, no event, no acknowledgement',
  'close in the middle of linking and of resuming',
  'sessions side by side do not know each other',
];

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
  'dates messages by parts of milliseconds': ['closing', ...exchanges],
  'gives who writes no name': ['closing', ...exchanges],
  'names nobody who writes': ['closing', ...exchanges],
  'gives messages an empty id': ['closing', ...exchanges],
  'gives all who write one id': ['receiving', 'hands over what contacts write'],
  'names who writes by getters': ['closing', ...exchanges],
  'stores under names that are too long': ['closing', ...sessions],
  'keeps what it has stored when it is linked again': ['linking', anew],
  'writes back what it has discarded': ['linking', anew],
  'lets an answer fail as its store does': [
    'linking',
    'without stored credentials there is no connected',
  ],
  'fetches files without a signal': ['sending', 'carries media'],
  'says of no file where it is': ['receiving', 'hands over what contacts write'],
  'leaves out when to connect again': [
    'resuming',
    'a broken connection is reported once and left to the gateway',
    'logging out before resuming, and out of reach',
  ],
  'adds events of its own': [
    'restarting',
    'a send is repeated after a restart, shown once',
    'a restriction is lifted after a restart',
    'a restriction is lifted while away',
  ],
  'opens sessions that cannot be logged out': ['closing', ...sessions],
  'acknowledges messages up to the last that was kept': [
    'receiving',
    'what was not kept comes again behind another',
  ],
  'acknowledges receipts up to the last that was kept': [
    'sending',
    'a receipt that was not kept comes again behind another',
  ],
  'calls not sent what broke off': [
    'sending|window',
    'what was under way at an end is uncertain',
    'a connection lost with all of them under way',
  ],
  'calls not sent what it was closed with': [
    'sending|window',
    'what was under way at an end is uncertain',
    'the end of the session ends all of them',
  ],
  'asks to try sends again later that a restriction refuses': [
    'sending',
    'a restriction stops sends until it is lifted',
  ],
  'dates sends by parts of milliseconds': ['resuming', 'resumes from stored credentials'],
};

/** The text by which a clause fails, where the gateway or the suite has one of its own. */
const said: Readonly<Record<string, string>> = {
  'names who writes by getters':
    'emit: from.phone is no property of its own, and what only a prototype has is not read',
  'stores under names that are too long': 'credentials.set: the name of a credential has 191',
  'lets an answer fail as its store does':
    '`answer` rejected with no DriverError: Error: the lease is lost',
  'fetches files without a signal': 'fetchMedia: its signal is no AbortSignal',
  'says of no file where it is': 'the medium has a url, or can be opened',
  'asks to try sends again later that a restriction refuses':
    'a send to a new contact that the restriction refuses is final',
  'opens sessions that cannot be logged out':
    'the driver opened what is no session: logOut is no function',
};

t.test('what leaves out a capability, or misspells one, is no driver', async (t) => {
  const network = await startSimulatedNetwork();
  t.teardown(() => network.stop());
  const contract = await simulatedContract(t, network, 'chatapp');
  const refusal = async (spoil: (capabilities: object) => void): Promise<void> => {
    const makeDriver: DriverFactory = async (context) => {
      const driver = await contract.makeDriver(context);
      const capabilities = { ...driver.capabilities };
      spoil(capabilities);
      return { ...driver, capabilities };
    };
    await driverContract(t, { ...contract, makeDriver });
  };
  const lacking = refusal((capabilities) => Reflect.deleteProperty(capabilities, 'media'));
  await t.rejects(lacking, {
    message: /is no driver: capabilities must have required property 'media'/,
  });
  const misspelt = refusal((capabilities) => Reflect.set(capabilities, 'pacing', false));
  await t.rejects(misspelt, {
    message: /is no driver: capabilities\.pacing is no capability that this gateway knows/,
  });
});

t.test('a wait in vain says what earlier waits had passed', async (t) => {
  const port = new MemoryPort(new LogLines());
  await port.emit({ type: 'history', messages: [] });
  await port.emit({ type: 'contacts', contacts: [] });
  await port.next('contacts', (event) => event.type === 'contacts');
  await port.emit({ type: 'state', state: 'unrestricted' });
  const waiting = port.next('history', (event) => event.type === 'history', 0);
  await t.rejects(waiting, {
    message:
      'no history came; events: history, contacts, unrestricted; passed before this wait: the first 2',
  });
});

t.test('each wrong driver fails in the clauses of its fault, and in no other', async (t) => {
  t.same(Object.keys(found).sort(), Object.keys(wrongDrivers).sort());
  const unusual = Object.entries(unusualDrivers);
  const nothing = unusual.map(([name, { parts }]) => [name, [parts]] as const);
  const expected = [...Object.entries(found), ...nothing];
  const named = Object.fromEntries(expected.map(([fault, [parts]]) => [fault, parts]));
  // Of each suite the parts that it is named after: "sending|window: sending".
  const grep = '.\n(?:^|\\|)(\\w+)(?:\\|\\w+)*: (?:\\1|nothing secret .*)$';
  const program = 'test/testing/wrong-driver-process.ts';
  const env = { TAP: '1', TAP_GREP: grep, SUITES: JSON.stringify(named) };
  const suites = startProcess(t, [program], env);
  await suites.exit;
  await suites.waitFor(/^# time=/m);
  const [, ...outputs] = suites.output.split(/^# Subtest: /m);
  t.same(
    outputs.map((output) => output.split('\n', 1)[0]),
    expected.map(([fault]) => fault),
  );
  for (const [place, [fault, [, ...clauses]]] of expected.entries()) {
    const output = outputs[place] ?? '';
    const failed = output.matchAll(/^ {8}not ok \d+ - (.*) # time/gm);
    t.same(
      [...failed].map(([, clause]) => clause),
      clauses,
      `a driver that ${fault}`,
    );
    t.ok(output.includes(said[fault] ?? ''), `a driver that ${fault}: says what is wrong`);
  }
});

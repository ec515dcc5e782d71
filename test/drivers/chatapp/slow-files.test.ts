import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { DriverEvent, IdentityEvent } from '../../../core/contracts/driver.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { friend, startBench } from './bench.ts';

const isIdentity = (event: DriverEvent): event is IdentityEvent => event.type === 'identity';
const others = [phoneNumber(9002), phoneNumber(9003)] as const;

t.test('files that are slow to come hold up their contacts alone', async (t) => {
  const { bench, phone, port, session, write, outcome } = await slowFiles(t);
  for (const from of [friend.phone, others[0]]) {
    write(from, `file of ${from}`, true);
    t.equal((await port.message()).text, `file of ${from}`, 'behind no other');
  }
  write(friend.phone, 'behind the file');
  write(others[1], 'meanwhile');
  t.equal((await port.message()).text, 'meanwhile');
  await sleep(100);
  const stored = new MemoryCredentials(port.credentials.values);
  outcome.resolve();
  t.equal((await port.message()).text, 'behind the file');
  session.close();
  const killed = bench.open(phone, stored);
  await killed.session.resume();
  const again = new Set<string>();
  while (again.size < 4) again.add((await killed.port.message()).text);
  t.ok(again.has(`file of ${friend.phone}`), 'all come again after a crash');
});

t.test('what comes behind a file that is refused comes behind it again', async (t) => {
  const { port, write, outcome } = await slowFiles(t);
  write(friend.phone, 'file', true);
  await port.message();
  write(friend.phone, 'behind the file');
  write(others[0], 'meanwhile');
  t.equal((await port.message()).text, 'meanwhile');
  port.onEmit = async () => undefined;
  outcome.reject(new Error('not stored'));
  const rest: string[] = [];
  while (rest.length < 3) rest.push((await port.message()).text);
  t.same(rest, ['file', 'meanwhile', 'behind the file']);
});

t.test('whoever writes behind a slow file is stored at once', async (t) => {
  const { bench, port, write } = await slowFiles(t);
  const stranger = bench.network.person(phoneNumber(9620), 'Ida');
  write(friend.phone, 'file', true);
  await port.message();
  write(stranger.phone, 'hello');
  t.equal((await port.message()).text, 'hello');
  const name = `person:${stranger.id}`;
  await until('her to be stored', async () => port.credentials.values.has(name) || undefined);
});

t.test('a person who changes twice meanwhile is as of the last change', async (t) => {
  const { bench, phone, port, write, outcome } = await slowFiles(t);
  const { control } = bench;
  const userId = Number(control.idOf(friend.phone));
  const storedName = () =>
    JSON.parse(port.credentials.values.get(`person:${userId}`) ?? '{}').name as string;
  await until('the friend to be stored', async () => storedName() === friend.name || undefined);
  write(others[0], 'file', true);
  await port.message();
  for (const firstName of ['Augusta', friend.name]) {
    const names = { firstName, lastName: '', usernames: [] };
    control.tell(phone, { _: 'updateUserName', userId, ...names });
    const change = await port.next('identity', isIdentity);
    t.equal(change.name, firstName);
  }
  const before = port.credentials.values.get('progress');
  outcome.resolve();
  const isStored = () => port.credentials.values.get('progress') !== before;
  await until('it to be stored', async () => isStored() || undefined);
  t.equal(storedName(), friend.name);
});

/** A session whose gateway keeps no file before the outcome is there. */
async function slowFiles(t: Test) {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port } = opened;
  const outcome = {
    resolve: () => undefined as unknown,
    reject: (_: Error) => undefined as unknown,
  };
  const settled = new Promise<void>((resolve, reject) => {
    Object.assign(outcome, { resolve, reject });
  });
  port.onEmit = async (event) => {
    if (event.type === 'message' && event.media !== null) await settled;
  };
  const write = (from: string, text: string, hasFile = false) =>
    bench.control.write(phone, { from, text, ...(hasFile ? { media: 'document' } : {}) });
  return { ...opened, bench, write, outcome };
}

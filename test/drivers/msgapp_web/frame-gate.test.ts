import t from 'tap';
import { CredentialWrites } from '../../../drivers/msgapp_web/credential-writes.ts';
import { FrameGate } from '../../../drivers/msgapp_web/frame-gate.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

/** A store whose writes last until the test lets them end. */
class SlowStore extends MemoryCredentials {
  readonly batches: string[][] = [];
  readonly #ends: { resolve(): void; reject(error: Error): void }[] = [];

  override async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    this.batches.push(Object.keys(values));
    await new Promise<void>((resolve, reject) => this.#ends.push({ resolve, reject }));
  }

  async end(error?: Error): Promise<void> {
    const write = this.#ends.shift();
    if (write === undefined) throw new Error('no write is under way');
    if (error === undefined) write.resolve();
    else write.reject(error);
    await turns();
  }
}

/** Lets everything happen that waits for nothing else. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function gate(holds = true) {
  const store = new SlowStore();
  const writes = new CredentialWrites(store);
  const counts = { keys_changed: 0, key_commits: 0, frames_held: 0 };
  const failures: unknown[] = [];
  const gate = new FrameGate({
    writes,
    holds,
    count: (what) => {
      counts[what] += 1;
    },
    failed: (error) => failures.push(error),
  });
  const left: string[] = [];
  const wire = {
    send(frame: Uint8Array | string, done?: (error?: Error) => void) {
      left.push(String(frame));
      done?.();
    },
  };
  gate.guard(wire);
  const taken: string[] = [];
  /** A frame of a message whose encryption has changed the key of this name. */
  const encrypt = async (name: string): Promise<void> => {
    writes.set(new Map([[name, 'changed']]));
    await gate.encrypted();
  };
  const send = (frame: string): void =>
    wire.send(frame, (error) => taken.push(error === undefined ? frame : `${frame} failed`));
  return { store, writes, counts, failures, gate, left, taken, encrypt, send };
}

t.test('frames leave in order, each behind the keys that were changed before it', async (t) => {
  const { store, counts, left, taken, encrypt, send } = gate();
  send('ping');
  t.same(left, ['ping'], 'nothing to wait for');
  await encrypt('a');
  send('message a');
  await turns();
  t.same(store.batches, [['a']]);
  await encrypt('b');
  send('message b');
  send('ping');
  await encrypt('c');
  send('message c');
  t.same(taken, ['ping', 'message a', 'message b', 'ping', 'message c'], 'the library goes on');
  t.same(left, ['ping'], 'and nothing has left');
  await store.end();
  t.same(left, ['ping', 'message a'], 'as far as the keys are durable');
  t.same(store.batches, [['a'], ['b', 'c']], 'what came meanwhile is one commit');
  send('late ping');
  await store.end();
  t.same(left, ['ping', 'message a', 'message b', 'ping', 'message c', 'late ping']);
  send('ping');
  t.equal(left.length, 7, 'open again');
  t.same(counts, { keys_changed: 3, key_commits: 2, frames_held: 5 });
});

t.test('keys that cannot be stored end it before any frame behind them', async (t) => {
  const { store, failures, left, taken, encrypt, send } = gate();
  await encrypt('a');
  send('message a');
  await turns();
  await encrypt('b');
  send('message b');
  await store.end();
  t.same(left, ['message a']);
  const fault = new Error('the disk is full');
  await store.end(fault);
  t.same(failures, [fault], 'said once');
  send('ping');
  t.same(left, ['message a']);
  t.equal(taken.at(-1), 'ping failed');
});

t.test('a connection that is cut lets nothing go that is held', async (t) => {
  const { store, writes, failures, gate: cut, left, encrypt, send } = gate();
  await encrypt('a');
  send('message a');
  await turns();
  cut.close();
  writes.close();
  await store.end();
  t.same(left, []);
  t.same(failures, []);
});

t.test('a message that is being received holds up what is built upon it alone', async (t) => {
  const { store, writes, left, encrypt, send } = gate();
  const hold = writes.hold();
  await hold.run(async () => writes.set(new Map([['ada', 'decrypted']])));
  await encrypt('ben');
  send('message to ben');
  await turns();
  t.same(store.batches, [['ben']], 'another contact');
  let encrypted = false;
  const upon = encrypt('ada').then(() => {
    encrypted = true;
    send('message to ada');
  });
  await store.end();
  send('question about ada');
  t.same(left, ['message to ben', 'question about ada'], 'what the hold asks for is not stuck');
  t.equal(encrypted, false, 'waits before there is a frame');
  hold.release();
  await upon;
  await turns();
  t.same(store.batches.at(-1), ['ada']);
  t.equal(left.length, 2);
  await store.end();
  t.equal(left.at(-1), 'message to ada');
});

t.test('what is taken back is written as it was, and as it was built upon', async (t) => {
  const { store, writes } = gate();
  const change = (name: string, value: string) => writes.set(new Map([[name, value]]));
  const read = async (name: string) => (await writes.get([name])).get(name);
  change('ada', 'sent');
  const hold = writes.hold();
  await hold.run(async () => change('ada', 'decrypted'));
  t.equal(await read('ada'), 'decrypted');
  await turns();
  t.same(store.batches, [['ada']], 'what was there before is not held');
  hold.undo();
  t.equal(await read('ada'), 'sent');
  await store.end();

  const second = writes.hold();
  await second.run(async () => change('ada', 'decrypted'));
  change('ada', 'decrypted, then sent');
  await second.run(async () => change('ada', 'decrypted once more'));
  second.undo();
  t.equal(await read('ada'), 'decrypted, then sent', 'a message may leave with it');
});

t.test('switched off, whoever encrypts waits, and learns of a failure', async (t) => {
  const { store, counts, failures, left, encrypt, send } = gate(false);
  const first = encrypt('a').then(() => send('message a'));
  await turns();
  t.same(left, []);
  await store.end();
  await first;
  t.same(left, ['message a']);
  const second = encrypt('b');
  await turns();
  const refused = t.rejects(second, { message: 'the disk is full' });
  await store.end(new Error('the disk is full'));
  await refused;
  t.same(failures, []);
  t.equal(counts.frames_held, 0);
});

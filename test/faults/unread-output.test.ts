import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { hasCode } from '../../core/error-code.ts';
import { freePort } from '../harness/ports.ts';
import { compiled, startProgram } from '../harness/processes.ts';
import { until } from '../harness/story.ts';
import { makeFolder } from '../servers/server.ts';

/** A full pipe, of which nobody reads. */
function fullPipe(t: Test): { readonly path: string; readonly reader: number } {
  const path = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [path]);
  const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const writer = openSync(path, O_WRONLY | O_NONBLOCK);
  t.throws(() => {
    for (;;) writeSync(writer, Buffer.alloc(4_096));
  }, /EAGAIN/);
  closeSync(writer);
  return { path, reader };
}

/** Starts node with its standard output at a place. */
function startInto(t: Test, place: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const shell = ['sh', '-c', 'exec "$0" "$@" > "$PLACE"', process.execPath, ...compiled(args)];
  return startProgram(t, shell, { ...env, NODE_OPTIONS: undefined, PLACE: place });
}

for (const [what, place] of [
  ['a disk that is full', () => '/dev/full'],
  ['a reader that stands still', (t: Test) => fullPipe(t).path],
] as const) {
  t.test(`a gateway serves, and stops, though its log meets ${what}`, async (t) => {
    const port = await freePort();
    const env = { DATA_DIR: await makeFolder('data'), HOST: '127.0.0.1', PORT: String(port) };
    const gateway = startInto(t, place(t), ['main.ts', 'serve'], { ...env, LOG_LEVEL: 'trace' });
    const url = `http://127.0.0.1:${port}`;
    await gateway.waitForOk(`${url}/readyz`);
    for (let n = 0; n < 50; n += 1) t.equal((await fetch(`${url}/v1/me`)).status, 401);
    t.same(await gateway.kill(), { code: 0, signal: null }, gateway.output);
  });
}

t.test('what a command prints is whole, though it is read late', async (t) => {
  const { path, reader } = fullPipe(t);
  const command = startInto(t, path, ['main.ts', 'version']);
  // The command has something to say, and waits.
  await Promise.race([command.exit, sleep(2_000)]);
  let text = '';
  const read = () => {
    const part = Buffer.alloc(64 * 1024);
    try {
      text += part.toString('utf8', 0, readSync(reader, part));
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) throw error;
    }
    return /[0-9]\n$/.test(text) || undefined;
  };
  await until('the version', async () => read());
  t.match(await command.exit, { code: 0 });
});

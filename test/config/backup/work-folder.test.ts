import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { startProcess } from '../../harness/processes.ts';
import { until } from '../../harness/story.ts';

/** A database, with a backup of it that cannot go on: nobody reads the pipe that it writes to. */
async function begin(t: Test) {
  const home = await mkdtemp(join(tmpdir(), 'home-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'nightly.tar');
  const env = { DATA_DIR: home };
  const run = (line: string) => startProcess(t, ['main.ts', ...line.split(' ')], env);
  const { code } = await run('migrate').exit;
  t.equal(code, 0);
  await promisify(execFile)('mkfifo', [`${file}.partial`]);
  const before = await readdir(home);
  const backup = run(`backup ${file}`);
  const folder = await until('the copy of the database', async () => {
    const made = (await readdir(home)).find((name) => name.includes('unfinished-backup-'));
    const copied = await stat(join(home, made ?? 'none', 'gateway.db')).catch(() => null);
    return copied === null ? undefined : join(home, made ?? '');
  });
  // Until it opens the pipe: what a signal interrupts is a backup that waits there.
  await sleep(500);
  return { home, file, run, before, backup, folder };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`a backup that ${signal} ends leaves nothing behind`, async (t) => {
    const { home, file, before, backup } = await begin(t);
    t.match(await backup.kill(signal), { code: null, signal });
    const partial = `${basename(file)}.partial`;
    const left = (await readdir(home)).filter((name) => name !== 'gateway.db.backup.lock');
    t.same(
      left,
      before.filter((name) => name !== partial),
    );
    t.match(backup.output, new RegExp(`^${signal} has ended the backup: nothing is left of it\\.`));
  });
}

t.test('what a killed backup has left is gone after the next one', async (t) => {
  const { home, file, run, backup, folder } = await begin(t);
  const second = run(`backup ${file}`);
  t.match(await second.exit, { code: 1 });
  t.match(
    second.output,
    /Another backup of .*gateway\.db is being made: wait until it has ended\./,
  );
  t.ok(await stat(folder), 'the folder of the one that runs stays');
  await backup.kill('SIGKILL');
  t.ok(await stat(folder));
  await rm(`${file}.partial`);
  t.match(await run(`backup ${file}`).exit, { code: 0 });
  t.notOk((await readdir(home)).some((name) => name.includes('unfinished')));
  t.ok(await stat(file));
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { lockDatabase } from '../../../plugins/storage/database-lock.ts';
import { freePort } from '../../harness/ports.ts';
import { startGateway, startProcess, type Teardown } from '../../harness/processes.ts';

async function folder(t: Teardown): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

t.test('a second gateway on an embedded database is refused with one sentence', async (t) => {
  const DATA_DIR = await folder(t);
  const env = { DATA_DIR, LOG_LEVEL: 'silent' };
  const first = await startGateway(t, env);

  const second = startProcess(t, ['main.ts', 'serve'], { ...env, PORT: String(await freePort()) });
  t.equal((await second.exit).code, 1);
  const file = join(DATA_DIR, 'gateway.db');
  const advice = 'set DATABASE_URL and AMQP_URL to run several';
  const sentence = `another gateway uses ${file}; ${advice}`;
  t.equal(second.output, `The gateway could not start: ${sentence}\n`);

  const list = startProcess(t, ['main.ts', 'tenants', 'list', '--json'], env);
  t.equal((await list.exit).code, 0, 'the command line works beside it');
  t.match(list.output, /"tenants"/);

  await first.process.kill('SIGKILL');
  const third = await startGateway(t, env);
  t.ok(third.url, 'what was killed holds nothing back');
  t.equal((await third.process.kill()).code, 0);
});

t.test('who is alone lets nobody in, and who shares only those that share', async (t) => {
  const path = join(await folder(t), 'new', 'gateway.db');
  const free = [lockDatabase(path, 'shared'), lockDatabase(path, 'shared')];
  t.throws(() => lockDatabase(path, 'alone'), /another gateway uses/);
  for (const release of free) release();
  const release = lockDatabase(path, 'alone');
  t.throws(() => lockDatabase(path, 'shared'), /another gateway uses/);
  t.throws(() => lockDatabase(path, 'alone'), /another gateway uses/);
  release();
  lockDatabase(path, 'shared')();
});

import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { putInPlace } from '../../../config/backup/placing.ts';
import { administer } from '../../../config/commands/administer.ts';
import { backUp } from '../../../config/commands/backup.ts';
import { restore } from '../../../config/commands/restore.ts';
import { createLog } from '../../../core/log.ts';
import { connect } from '../../../plugins/storage/connection.ts';
import { startProcess } from '../../harness/processes.ts';
import { scale } from '../../harness/scale.ts';

const killing = pathToFileURL(join(import.meta.dirname, '../../fixtures/kill-at.mjs'));
/** Another volume than that of temporary files, where there is one. */
const volume = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function folder(t: Test, place: string): Promise<string> {
  const path = await mkdtemp(join(place, 'restore-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

const lockFiles = /\.lock$/;

async function filesIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !lockFiles.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort();
}

t.test('wherever a restore is killed, the next one finds no trace of it', async (t) => {
  const [home, place, data] = [
    await folder(t, tmpdir()),
    await folder(t, tmpdir()),
    await folder(t, volume),
  ];
  const secret = { GATEWAY_SECRET: Buffer.alloc(32, 7).toString('base64') };
  const run = async (line: string, env: Readonly<Record<string, string>>) => {
    const process = startProcess(t, ['main.ts', ...line.split(' ')], { ...secret, ...env });
    return { ...(await process.exit), output: process.output };
  };
  await administer({ name: 'migrate' }, { ...secret, DATA_DIR: home });
  await mkdir(join(home, 'simulated-network'), { recursive: true });
  await copyFile(join(home, 'gateway.db'), join(home, 'simulated-network', 'network.sqlite'));
  const kept = join(home, 'media', 'kept', 'ten_a', '00');
  await mkdir(kept, { recursive: true });
  await writeFile(join(kept, 'a picture'), 'of Ada');
  const connections = connect(`sqlite:${join(home, 'gateway.db')}`, createLog('silent'));
  const row = { id: 'a picture', tenant_id: 'ten_a', state: 1, created_at: 0 };
  await connections.write('media_files').insert(row);
  await connections.close();
  const tar = join(place, 'backup.tar');
  await backUp(tar, { ...secret, DATA_DIR: home });

  const target = { DATA_DIR: data, DATABASE_URL: `sqlite:${join(place, 'gateway.db')}` };
  const hook = { NODE_OPTIONS: `--import=${killing}` };
  const isWhole = async () => {
    const found = await filesIn(data);
    t.match(found.join('\n'), /^media\/kept\/ten_a\/00\/a picture\n.*network\.sqlite$/);
    const picture = await readFile(join(data, 'media', 'kept', 'ten_a', '00', 'a picture'), 'utf8');
    t.equal(picture, 'of Ada');
  };
  // Below full size at every third change of a file.
  const step = scale < 1 ? 3 : 1;
  let killed = 0;
  while (!existsSync(join(place, 'gateway.db'))) {
    // As if the killed one had copied what the next one does not.
    for (const partial of await readdir(join(data, 'media')).catch(() => [])) {
      if (partial.endsWith('.partial')) await writeFile(join(data, 'media', partial, 'old'), '');
    }
    const env = { ...target, ...hook, KILL_AT: String(1 + killed * step) };
    const next = await run(`restore ${tar}`, env);
    // It has fewer changes than that: it is done.
    if (step > 1 && next.code === 0) break;
    if (!t.match(next, { signal: 'SIGKILL', output: '' })) return;
    killed += 1;
  }
  t.ok(
    killed * step > 12,
    'it is killed before and after each move, or at a third of these points',
  );
  await isWhole();
  const again = await run(`restore ${tar}`, target);
  t.match(again, { code: 1, output: /gateway\.db is there already/ });
  t.same(await filesIn(place), ['backup.tar', 'gateway.db'], 'nothing is left of the killed ones');
  await isWhole();
});

t.test(
  'what a gateway has served is no leftover of a restore that was killed before',
  async (t) => {
    const home = await folder(t, tmpdir());
    const env = { DATA_DIR: home, PORT: '0', METRICS_PORT: '' };
    const database = join(home, 'gateway.db');
    const killed = `${database}.unfinished-restore-killed`;
    const kept = join(home, 'media', 'kept');
    await mkdir(join(killed, 'media'), { recursive: true });
    await putInPlace(killed, [[join(killed, 'media'), kept]]);
    const copy = `${kept}.partial`;
    await mkdir(copy);
    const gateway = startProcess(t, ['main.ts', 'serve'], env);
    await gateway.waitFor(/the gateway is listening/);
    await writeFile(join(kept, 'a picture'), 'of Ada');
    t.match(await gateway.kill(), { code: 0 });
    t.notOk(existsSync(killed) || existsSync(copy), 'its copies of the data are gone');
    await rename(database, join(home, 'moved.db'));
    await writeFile(join(home, 'backup.tar'), '');
    await t.rejects(restore(join(home, 'backup.tar'), env), { message: / is there already/ });
    t.equal(await readFile(join(kept, 'a picture'), 'utf8'), 'of Ada');
  },
);

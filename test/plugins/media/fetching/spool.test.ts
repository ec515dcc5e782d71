import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Spool } from '../../../../plugins/media/fetching/spool.ts';

const name = (n: number): string => n.toString(16).padStart(32, '0');

t.test('a sweep deletes what a crash left, whatever else lies there', async (t) => {
  const folder = t.testdir();
  const old = async (path: string) => utimes(path, 1, 1);
  for (const foreign of ['lost+found', name(1)]) {
    await mkdir(join(folder, foreign));
    await old(join(folder, foreign));
  }
  const files = async (names: readonly string[], isOld: boolean) => {
    for (const one of names) {
      await writeFile(join(folder, one), 'bytes');
      if (isOld) await old(join(folder, one));
    }
  };
  const range = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => name(from + n));
  await files(['of-somebody-else'], true);
  await files(range(10, 3_000), false);
  await files(range(10_000, 50), true);
  t.equal(await new Spool(folder).sweep(), null);
  const left = new Set(await readdir(folder));
  for (const kept of ['lost+found', name(1), 'of-somebody-else', name(10)]) t.ok(left.has(kept));
  t.same(
    range(10_000, 50).filter((one) => left.has(one)),
    [],
    'behind any number of young ones',
  );
  t.equal(left.size, 3 + 3_000);
});

import t from 'tap';
import type { Sql } from '../../../core/contracts/sql.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { databases } from '../../harness/databases.ts';
import { openScratch, scratchOf } from './scratch.ts';

/** Whatever a test wants to do with the executor, in a transaction. */
const anything: Lane<(db: Sql) => Promise<unknown>, unknown> = {
  name: 'anything',
  locks: () => [],
  run: (unit, inputs) => Promise.all(inputs.map((act) => act(scratchOf(unit).db))),
};

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const database = await create(t);
    const storage = await openScratch(database.url, t);
    const act = (input: (db: Sql) => Promise<unknown>) => storage.submit(anything, input);
    const all = () =>
      scratchOf(storage.read).db.knex('scratch').orderBy('id').select('id', 'value');
    const clear = () => act((db) => db.knex('scratch').delete());
    t.equal(storage.dialect, name === 'sqlite' ? 'sqlite' : 'mysql');

    t.test('inserts, and leaves what is there alone', async (t) => {
      await act((db) => db.insert('scratch', [{ id: 'a', value: 1 }]));
      const rows = ['a', 'b', 'c', 'c'].map((id) => ({ id, value: 2 }));
      t.equal(await act((db) => db.insertIgnore('scratch', rows)), 2);
      t.equal(await act((db) => db.insertIgnore('scratch', rows.slice(0, 1))), 0);
      t.equal(await act((db) => db.insertIgnore('scratch', [])), 0);
      t.same(await all(), [
        { id: 'a', value: 1 },
        { id: 'b', value: 2 },
        { id: 'c', value: 2 },
      ]);
      const tooLong = [{ id: 'x'.repeat(41), value: 1 }];
      await t.rejects(
        act((db) => db.insert('scratch', tooLong)),
        'a value that does not fit',
      );
      if (name === 'mariadb') {
        await t.rejects(
          act((db) => db.insertIgnore('scratch', tooLong)),
          /does not fit/,
        );
      }
      await t.rejects(
        act((db) => db.insert('scratch', [{ id: 'y', value: 1 }, { id: 'z' }])),
        /same columns/,
      );
      t.equal((await all()).length, 3, 'nothing of the failures was kept');
      await clear();
    });

    t.test('inserts or changes', async (t) => {
      const rule = { key: ['id'], set: ['at'], add: ['value'] };
      await act((db) => db.upsert('scratch', [{ id: 'a', value: 2, at: 1 }], rule));
      const more = [
        { id: 'a', value: 5, at: 9 },
        { id: 'b', value: 7, at: 9 },
      ];
      await act((db) => db.upsert('scratch', more, rule));
      t.same(await all(), [
        { id: 'a', value: 7 },
        { id: 'b', value: 7 },
      ]);
      t.same(await scratchOf(storage.read).db.knex('scratch').orderBy('id').pluck('at'), [9, 9]);
      await clear();
    });

    t.test('gives each row its own values', async (t) => {
      const rows = Array.from({ length: 700 }, (_, n) => ({
        id: `row${String(n).padStart(3, '0')}`,
        value: n,
        note: n % 2 === 0 ? null : `note ${n}`,
      }));
      await act((db) => db.insert('scratch', rows));
      const changes = rows.map(({ id }, n) => ({ id, value: n * 2, note: `new ${n}` }));
      const matched = await act((db) =>
        db.updateEach('scratch', 'id', [...changes, { id: 'nobody', value: 1, note: null }]),
      );
      t.equal(matched, 700);
      const after = await scratchOf(storage.read).db.knex('scratch').orderBy('id').select('*');
      t.same(after[9], { id: 'row009', value: 18, note: 'new 9', at: null });
      t.same(after[10], { id: 'row010', value: 20, note: 'new 10', at: null });
      t.same(after[699], { id: 'row699', value: 1398, note: 'new 699', at: null });
      t.equal(await act((db) => db.updateEach('scratch', 'id', [])), 0);
      await clear();
    });

    t.test('writes more text at once than a server takes in one packet', async (t) => {
      const ids = Array.from({ length: 300 }, (_, n) => `row${n}`);
      // 27 MB in UTF-8.
      const rows = (character: string) => ids.map((id) => ({ id, note: character.repeat(30_000) }));
      const hasAll = async (character: string) => {
        const found = scratchOf(storage.read).db.knex('scratch');
        const notes: string[] = await found.pluck('note');
        t.equal(notes.filter((note) => note === character.repeat(30_000)).length, 300);
      };
      await act((db) => db.insert('scratch', rows('漢')));
      await hasAll('漢');
      t.equal(await act((db) => db.updateEach('scratch', 'id', rows('字'))), 300);
      await hasAll('字');
      await clear();
      const lists = rows('仮').map(({ id, note }) => [id, note]);
      await act((db) => db.insertLists('scratch', ['id', 'note'], lists));
      await hasAll('仮');
      await clear();
    });

    t.test('answers the same kinds of values', async (t) => {
      const at = 1_795_251_778_490;
      await act((db) => db.insert('scratch', [{ id: 'a', value: 2, at }]));
      t.equal(
        await act((db) => db.knex('scratch').where({ id: 'a', value: 2 }).update({ value: 2 })),
        1,
        'a row that matches counts, changed or not',
      );
      t.equal(await act((db) => db.knex('scratch').where('id', 'b').update({ value: 2 })), 0);
      t.equal(await act((db) => db.run('update scratch set value = ? where id = ?', [3, 'a'])), 1);
      const [row] = await scratchOf(storage.read).db.rows(
        'select sum(value) as total, count(*) as n, max(at) as at from scratch where value > ?',
        [1],
      );
      t.same(row, { total: 3, n: 1, at });
      t.same(await act((db) => db.knex('scratch').limit(1).pluck('id')), ['a']);
      t.equal(await act((db) => db.knex('scratch').where('id', 'a').delete()), 1);
    });

    t.test('keeps every text as it is', async (t) => {
      const texts = [
        '😀 é ß',
        ' spaces ',
        'quote \' " ` \\ %_',
        'line\n\r\t',
        '',
        '5',
        'ключ',
        '漢字',
      ];
      for (const [n, note] of texts.entries()) {
        await act((db) => db.insert('scratch', [{ id: `t${n}`, note }]));
      }
      const notes = await scratchOf(storage.read).db.knex('scratch').orderBy('id').pluck('note');
      t.same(notes, texts);
      await act((db) => db.insert('scratch', [{ id: 'odd', note: 'a\0b\ud800c' }]));
      const odd = await scratchOf(storage.read).db.knex('scratch').where('id', 'odd').first('note');
      t.equal(odd?.note, 'a\ufffdb\ufffdc', 'what UTF-8 or libsql cannot carry is replaced');
      for (const other of ['T1', 't1 ', 'té', '😀']) {
        t.equal(await scratchOf(storage.read).value(other), undefined, `"${other}" is another id`);
      }
      await clear();
    });

    t.test('what reads cannot write', async (t) => {
      const { db } = scratchOf(storage.read);
      await t.rejects(scratchOf(storage.read).set('x', 1), /read.?only/i);
      await t.rejects(db.run('delete from scratch'), /read.?only/i);
    });

    t.test('tells the time and answers pings', async (t) => {
      await storage.ping();
      t.ok(Math.abs((await storage.now()) - Date.now()) < 2_000);
    });
  });
}

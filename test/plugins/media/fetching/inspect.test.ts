import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { inspectFile } from '../../../../plugins/media/fetching/inspect.ts';

t.test('a text in UTF-16 is a document, not a broken voice message', async (t) => {
  const path = join(t.testdir(), 'file');
  const text = Buffer.from('\ufeffGrüße aus Köln\n', 'utf16le');
  for (const bytes of [text, Buffer.from(text).swap16()]) {
    await writeFile(path, bytes);
    t.same(await inspectFile(path, { type: 'text/plain', name: 'notes.txt' }), {
      kind: 'document',
      mimeType: 'text/plain',
      fileName: 'notes.txt',
    });
  }
});

t.test(
  'a document has the extension of its type, not of the script that answered it',
  async (t) => {
    const path = join(t.testdir(), 'file');
    await writeFile(path, '%PDF-1.4 and so on');
    const pdf = await inspectFile(path, { type: null, name: 'invoice.php' });
    t.match(pdf, { mimeType: 'application/pdf', fileName: 'invoice.php.pdf' });
    await writeFile(path, Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    for (const name of ['letter.doc', 'letter']) {
      const letter = await inspectFile(path, { type: 'application/msword', name });
      t.match(letter, { mimeType: 'application/msword', fileName: 'letter.doc' });
    }
  },
);

import t from 'tap';
import {
  decideType,
  isSendableType,
  kindOf,
  readType,
  servedType,
} from '../../../../plugins/media/fetching/types.ts';

t.test('the bytes of a file decide its type before its name and its server', async (t) => {
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const rows: readonly [
    what: string,
    facts: { declared?: string; detected?: string; head?: string; fileName?: string },
    type: string,
    sendable: boolean,
    served: string,
  ][] = [
    [
      'a picture',
      { declared: 'image/jpg', detected: 'image/jpeg' },
      'image/jpeg',
      true,
      'image/jpeg',
    ],
    [
      'a picture by its bytes',
      { declared: 'text/html', detected: 'image/png' },
      'image/png',
      true,
      'image/png',
    ],
    ['nothing declared', { detected: 'video/mp4' }, 'video/mp4', true, 'video/mp4'],
    [
      'sound in a film',
      { declared: 'audio/mp4', detected: 'video/mp4' },
      'audio/mp4',
      true,
      'audio/mp4',
    ],
    ['a codec', { detected: 'audio/ogg; codecs=opus' }, 'audio/ogg', true, 'audio/ogg'],
    [
      'an unusual picture',
      { detected: 'image/tiff' },
      'image/tiff',
      true,
      'application/octet-stream',
    ],
    ['a document', { declared: 'application/zip', detected: docx }, docx, true, docx],
    [
      'an old document',
      { declared: 'application/msword', detected: 'application/x-cfb' },
      'application/msword',
      true,
      'application/msword',
    ],
    [
      'one by its name',
      { detected: 'application/x-cfb', fileName: 'a.XLS' },
      'application/vnd.ms-excel',
      true,
      'application/vnd.ms-excel',
    ],
    [
      'an unknown container',
      { detected: 'application/x-cfb', fileName: 'a.msi' },
      'application/x-cfb',
      false,
      'application/octet-stream',
    ],
    [
      'a program',
      { declared: 'image/png', detected: 'application/x-msdownload' },
      'application/x-msdownload',
      false,
      'application/octet-stream',
    ],
    [
      'a text',
      { declared: 'text/csv', head: 'a;b\n' },
      'text/csv',
      true,
      'text/csv; charset=utf-8',
    ],
    [
      'an undeclared text',
      { head: 'hello', fileName: 'a.png' },
      'text/plain',
      true,
      'text/plain; charset=utf-8',
    ],
    [
      'JSON',
      { declared: 'application/json', head: '{}' },
      'application/json',
      true,
      'application/json',
    ],
    [
      'a page',
      { declared: 'text/plain', head: '\ufeff\n <!DOCTYPE html>' },
      'text/html',
      false,
      'application/octet-stream',
    ],
    [
      'a drawing',
      { declared: 'image/svg+xml', head: '<svg onload=x>' },
      'text/html',
      false,
      'application/octet-stream',
    ],
    [
      'a script',
      { declared: 'text/javascript', head: 'x()' },
      'text/javascript',
      false,
      'application/octet-stream',
    ],
    [
      'text that says picture',
      { declared: 'image/png', head: 'not found' },
      'application/octet-stream',
      false,
      'application/octet-stream',
    ],
    [
      'bytes that say picture',
      { declared: 'image/png', head: 'a\0b' },
      'application/octet-stream',
      false,
      'application/octet-stream',
    ],
    [
      'bytes that say document',
      { declared: 'application/pdf', head: 'a\0b' },
      'application/octet-stream',
      false,
      'application/octet-stream',
    ],
    ['half a character', { head: 'x' }, 'text/plain', true, 'text/plain; charset=utf-8'],
  ];
  for (const [what, facts, type, sendable, served] of rows) {
    const { declared, detected = null, head = 'a\0b', fileName = 'x' } = facts;
    const bytes = Buffer.from(head);
    const cut = what === 'half a character' ? Buffer.from([0x78, 0xc3]) : bytes;
    const decided = decideType({ declared: readType(declared), detected, head: cut, fileName });
    t.same([decided, isSendableType(decided), servedType(decided)], [type, sendable, served], what);
  }
});

t.test('an ordinary text is a text, whatever its charset and its server', async (t) => {
  const excel = 'application/vnd.ms-excel';
  const csv = 'Name;Ort\nMüller;Köln\n';
  const old = Buffer.from(csv, 'latin1');
  const wide = Buffer.from(`\ufeff${csv}`, 'utf16le');
  const readme = '<!-- toc -->\n<!-- of\nit -->\n# Title\n';
  const rows: readonly [string | undefined, Buffer | string, string, string][] = [
    ['text/csv', old, 'x', 'text/csv'],
    ['text/plain', old, 'x', 'text/plain'],
    ['application/csv', csv, 'x', 'text/csv'],
    ['application/octet-stream', csv, 'a.csv', 'text/csv'],
    ['binary/octet-stream', csv, 'x', 'text/plain'],
    ['binary/octet-stream', csv, 'A.CSV', 'text/csv'],
    [excel, csv, 'a.xls', 'text/csv'],
    [excel, old, 'a.xls', 'text/csv'],
    ['text/plain', wide, 'x', 'text/plain'],
    ['text/csv', Buffer.from(wide).swap16(), 'x', 'text/csv'],
    ['text/markdown', readme, 'x', 'text/markdown'],
    ['text/x-markdown', `<!-- ${'long '.repeat(200)}`, 'x', 'text/markdown'],
    [undefined, readme, 'README.md', 'text/markdown'],
  ];
  for (const [declared, head, fileName, type] of rows) {
    const facts = { declared: readType(declared), detected: null, fileName };
    const decided = decideType({ ...facts, head: Buffer.from(head) });
    t.same([decided, isSendableType(decided)], [type, true], `${declared} ${fileName}`);
  }
});

t.test('what is no text, a page or a script is none under the name of a text either', async (t) => {
  const page = '<!-- a --> <!-- b --><script>x()</script>';
  const sound = Buffer.from([0xff, 0xfe, 0x01, 0x00, 0x02, 0xd8, 0x03, 0x00]);
  const rows: readonly [string | undefined, Buffer | string, string][] = [
    ['text/plain', page, 'text/html'],
    ['text/markdown', page, 'text/html'],
    ['text/plain', Buffer.from('\ufeff<html>', 'utf16le'), 'text/html'],
    ['text/plain', Buffer.from('<html>ä', 'latin1'), 'text/html'],
    ['application/vnd.ms-excel', '<html><table>', 'text/html'],
    ['text/javascript', Buffer.from('"ä"', 'latin1'), 'text/javascript'],
    ['text/plain', Buffer.from([0x80, 0x01, 0x02, 0xe4]), 'application/octet-stream'],
    ['text/plain', sound, 'application/octet-stream'],
    [undefined, Buffer.from('äx', 'latin1'), 'application/octet-stream'],
    ['image/png', Buffer.from('äx', 'latin1'), 'application/octet-stream'],
  ];
  for (const [declared, head, type] of rows) {
    const facts = { declared: readType(declared), detected: null, fileName: 'x' };
    const decided = decideType({ ...facts, head: Buffer.from(head) });
    t.same([decided, isSendableType(decided)], [type, false], `${declared} ${type}`);
  }
});

t.test('a type is a picture, sound, a film or else a document', async (t) => {
  t.same(['image/png', 'image/svg+xml', 'audio/x', 'video/x', 'text/plain'].map(kindOf), [
    'image',
    'document',
    'audio',
    'video',
    'document',
  ]);
});

t.test('a declared type is read without case and parameters', async (t) => {
  t.same(
    [readType('IMAGE/Png ; a=b'), readType('nonsense'), readType(undefined)],
    ['image/png', null, null],
  );
});

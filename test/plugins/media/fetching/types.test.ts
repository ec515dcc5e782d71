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

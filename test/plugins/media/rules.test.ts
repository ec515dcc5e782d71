import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { withFreshMedia } from '../../../core/media-reference.ts';
import { MediaAddresses } from '../../../plugins/media/addresses.ts';
import { givenFileName, safeFileName } from '../../../plugins/media/fetching/file-names.ts';
import { Patience } from '../../../plugins/media/fetching/patience.ts';
import { Slots } from '../../../plugins/media/fetching/slots.ts';
import {
  decideType,
  isSendableType,
  kindOf,
  readType,
  servedType,
} from '../../../plugins/media/fetching/types.ts';
import { readRange } from '../../../plugins/media/range.ts';

t.test('types', async (t) => {
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
  t.same(['image/png', 'image/svg+xml', 'audio/x', 'video/x', 'text/plain'].map(kindOf), [
    'image',
    'document',
    'audio',
    'video',
    'document',
  ]);
  t.same(
    [readType('IMAGE/Png ; a=b'), readType('nonsense'), readType(undefined)],
    ['image/png', null, null],
  );
});

t.test('file names', async (t) => {
  const url = 'https://a.example/b/%C3%A4.png?x=/y.gif';
  t.equal(givenFileName('attachment; filename="c.pdf"', url), 'c.pdf');
  t.equal(givenFileName("attachment; filename=x; filename*=UTF-8''%E2%82%AC.pdf", url), '€.pdf');
  t.equal(givenFileName('attachment; filename="unclosed', url), 'ä.png');
  t.equal(givenFileName(undefined, 'https://a.example/'), null);
  t.equal(givenFileName(undefined, 'https://a.example/%zz'), '%zz');
  const rows: readonly [string | null, string, string][] = [
    ['cat.png', '.png', 'cat.png'],
    [null, '.png', 'image.png'],
    ['...', '.png', 'image.png'],
    ['../../etc/passwd', '', 'passwd'],
    ['C:\\Windows\\a.png', '.png', 'a.png'],
    ['a\u202egnp.exe', '.png', 'agnp.exe.png'],
    ['a.html', '.txt', 'a.html.txt'],
    ['a\0\n"<b>.png', '.png', 'a__b_.png'],
    ['download', '.pdf', 'download.pdf'],
    [`${'x'.repeat(300)}.png`, '.png', `${'x'.repeat(116)}.png`],
    [`a.${'x'.repeat(300)}`, '', `a.${'x'.repeat(118)}`],
  ];
  for (const [given, extension, name] of rows) {
    t.equal(safeFileName(given, 'image', extension), name, JSON.stringify(given));
  }
});

t.test('ranges', async (t) => {
  const rows = [
    [undefined, 'whole'],
    ['bytes=0-', { start: 0, end: 9 }],
    ['bytes=2-3', { start: 2, end: 3 }],
    ['bytes=2-99', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=3-2', 'whole'],
    ['bytes=0-1,3-4', 'whole'],
    ['lines=1-2', 'whole'],
    ['bytes=-', 'whole'],
  ] as const;
  for (const [header, verdict] of rows) t.same(readRange(header, 10), verdict, `${header}`);
});

t.test('addresses', async (t) => {
  let now = 1_000_000;
  const publicUrl = () => 'https://g.example';
  const parts = { lifetimeMs: 60_000, publicUrl, now: () => now };
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const key = '0123456789abcdef0123456789abcdef';
  const before = new MediaAddresses({ ...parts, keys: [old] });
  const after = new MediaAddresses({ ...parts, keys: [fresh, old] });
  const later = new MediaAddresses({ ...parts, keys: [fresh] });
  const url = new URL(before.mint(key));
  t.equal(`${url.origin}${url.pathname}`, `https://g.example/v1/media/${key}`);
  const expires = url.searchParams.get('expires');
  const signature = url.searchParams.get('signature');
  t.equal(expires, '1060');
  t.equal(before.check(key, expires, signature), 'good');
  t.equal(after.check(key, expires, signature), 'good', 'while the secret is changed');
  t.equal(later.check(key, expires, signature), 'wrong', 'and no longer');
  t.equal(before.check(key.replace('0', 'f'), expires, signature), 'wrong');
  t.equal(before.check(key, '1061', signature), 'wrong');
  t.equal(before.check(key, ['1060'], signature), 'wrong');
  t.equal(before.check(key, expires, `${signature}=`), 'wrong');
  t.equal(before.check(`../${key}`, expires, signature), 'wrong');
  now = 1_060_000;
  t.equal(before.check(key, expires, signature), 'expired');

  const mint = (one: string) => `https://minted.example/${one}`;
  const payload = (media: unknown, text = 'hi') =>
    JSON.stringify({
      event: 'message.received',
      message: { id: 'm', text, media },
      contact: { id: 'c' },
    });
  const media = { kind: 'image', url: `media:${key}`, mime_type: null };
  t.equal(
    withFreshMedia(payload(media), mint),
    payload({ ...media, url: `https://minted.example/${key}` }),
  );
  for (const untouched of [
    payload(null),
    payload(null, `"media:${key}"`),
    payload({ ...media, url: null }, `"media:${key}"`),
    payload({ ...media, url: 'media:nonsense' }),
    payload({ ...media, url: 'https://a.example/b.png' }),
    '{ "odd" :  1.0 }',
    '{"message":{"media":"media:"}}',
    'null',
  ]) {
    t.equal(withFreshMedia(untouched, mint), untouched);
  }
});

t.test('a few at once, and half of them for one owner', async (t) => {
  const slots = new Slots(4);
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const order: string[] = [];
  const patient = new AbortController().signal;
  const work = (owner: string, name: string) =>
    slots.run(owner, patient, async () => {
      order.push(name);
      for (const one of [owner, 'all']) {
        open.set(one, (open.get(one) ?? 0) + 1);
        most.set(one, Math.max(most.get(one) ?? 0, open.get(one) ?? 0));
      }
      await pause(5);
      for (const one of [owner, 'all']) open.set(one, (open.get(one) ?? 0) - 1);
    });
  const all = [1, 2, 3, 4, 5].map((n) => work('a', `a${n}`));
  all.push(...[1, 2, 3].map((n) => work('b', `b${n}`)));
  const hasty = new AbortController();
  const given = slots.run('a', hasty.signal, async () => order.push('given up'));
  hasty.abort(new Error('enough'));
  await t.rejects(given, /enough/);
  await t.rejects(
    slots.run('a', hasty.signal, async () => undefined),
    /enough/,
  );
  await Promise.all(all);
  t.same(Object.fromEntries(most), { a: 2, b: 2, all: 4 });
  t.same(order.slice(0, 4), ['a1', 'a2', 'b1', 'b2']);
  t.same(
    order.filter((name) => name.startsWith('a')),
    ['a1', 'a2', 'a3', 'a4', 'a5'],
  );
  await t.rejects(
    slots.run('a', patient, async () => {
      throw new Error('broken');
    }),
    /broken/,
  );
  await slots.run('a', patient, async () => t.pass('a failure gives its place back'));
});

t.test('three tries', async (t) => {
  const patience = new Patience();
  const pauses = (address: string, ...times: readonly number[]) =>
    times.map((at) => patience.pauseAfter(address, at));
  t.same(pauses('a', 0, 1, 2, 3), [1_000, 5_000, null, 1_000], 'then it begins anew');
  t.same(pauses('b', 0, 700_000), [1_000, 1_000], 'a failure of long ago is forgotten');
  pauses('c', 0);
  patience.forget('c');
  t.same(pauses('c', 1), [1_000]);
  for (let n = 0; n < 1_001; n += 1) pauses(`other ${n}`, 0);
  t.same(pauses('c', 2), [1_000], 'only so many are remembered');
});

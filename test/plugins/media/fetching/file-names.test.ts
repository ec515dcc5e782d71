import t from 'tap';
import { givenFileName, safeFileName } from '../../../../plugins/media/fetching/file-names.ts';

t.test('a file has the name of its header, else of its address', async (t) => {
  const url = 'https://a.example/b/%C3%A4.png?x=/y.gif';
  t.equal(givenFileName('attachment; filename="c.pdf"', url), 'c.pdf');
  t.equal(givenFileName("attachment; filename=x; filename*=UTF-8''%E2%82%AC.pdf", url), '€.pdf');
  t.equal(givenFileName('attachment; filename="unclosed', url), 'ä.png');
  t.equal(givenFileName(undefined, 'https://a.example/'), null);
  t.equal(givenFileName(undefined, 'https://a.example/%zz'), '%zz');
});

t.test('a file name shows its real type and no folder', async (t) => {
  const rows: readonly [string | null, string, string][] = [
    ['cat.png', '.png', 'cat.png'],
    [null, '.png', 'image.png'],
    ['...', '.png', 'image.png'],
    ['../../etc/passwd', '', 'passwd'],
    ['C:\\Windows\\a.png', '.png', 'a.png'],
    ['a\u202egnp.exe', '.png', 'agnp.exe.png'],
    ['a.html', '.txt', 'a.html.txt'],
    ['invoice.php', '.pdf', 'invoice.php.pdf'],
    ['Download.aspx', '.pdf', 'Download.aspx.pdf'],
    ['No. 12.5', '.pdf', 'No. 12.5.pdf'],
    ['a.PDF', '.pdf', 'a.PDF'],
    ['a.JPEG', '.jpg', 'a.JPEG'],
    ['server.log', '.txt', 'server.log'],
    ['table.xls', '.csv', 'table.xls.csv'],
    ['x.bin', '', 'x.bin'],
    ['a\0\n"<b>.png', '.png', 'a__b_.png'],
    ['a\n/b\n\\c.png', '.png', 'c.png'],
    [`a/${' '.repeat(300)}${'x'.repeat(300)}😀.. .`, '.png', `${'x'.repeat(116)}.png`],
    [`${' '.repeat(999)}😀`, '.png', 'image.png'],
    ['download', '.pdf', 'download.pdf'],
    [`${'x'.repeat(300)}.png`, '.png', `${'x'.repeat(116)}.png`],
    [`a.${'x'.repeat(300)}`, '', `a.${'x'.repeat(118)}`],
    [`x.${'y'.repeat(117)}😀z`, '', `x.${'y'.repeat(117)}😀`],
  ];
  for (const [given, extension, name] of rows) {
    t.equal(safeFileName(given, 'image', extension), name, JSON.stringify(given));
  }
});

t.test('a name of blanks or accents, of whatever length, takes no long time', async (t) => {
  const blanks = ' .'.repeat(30_000);
  const begun = process.cpuUsage();
  t.equal(safeFileName(`${blanks}a${blanks}b.png`, 'image', '.png'), 'image.png');
  t.equal(safeFileName(`a${' '.repeat(60_000)}b.png`, 'image', '.png'), 'a.png');
  t.equal(safeFileName(`${'/'.repeat(60_000)}${blanks}a.png`, 'image', '.png'), 'image.png');
  const accents = safeFileName(`a${'\u0301\u0316'.repeat(30_000)}`, 'image', '.png');
  t.equal(accents.length, 120);
  const { user, system } = process.cpuUsage(begun);
  t.ok(user + system < 2_000_000, `${user + system} µs`);
});

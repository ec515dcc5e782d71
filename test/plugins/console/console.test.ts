import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { runGateway } from '../../harness/gateway.ts';

/** What all files of the console may take together, packed. */
const mostBytes = 60 * 1024;

t.test('the console is served whole, from this host, under a strict policy', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { origin } = new URL(gateway.baseUrl);
  const home = await fetch(`${origin}/`, { redirect: 'manual' });
  t.equal(home.headers.get('location'), 'console', 'the first page is the console');
  const answer = await fetch(`${origin}/console`);
  const html = await answer.text();
  t.equal(answer.status, 200);
  const policy = answer.headers.get('content-security-policy') ?? '';
  const [, map = ''] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? [];
  const hash = createHash('sha256').update(map).digest('base64');
  t.match(policy, `script-src 'self' 'sha256-${hash}';`);
  t.match(policy, "default-src 'none'");
  t.match(policy, "trusted-types 'none'");
  t.notMatch(policy, /unsafe/);
  t.equal(answer.headers.get('x-frame-options'), 'DENY');
  t.equal(answer.headers.get('set-cookie'), null);

  const head = await fetch(`${origin}/console`, { method: 'HEAD' });
  t.equal(head.status, 200, 'a monitor may ask by HEAD');
  t.equal(head.headers.get('content-length'), answer.headers.get('content-length'));
  t.equal(await head.text(), '');

  const etag = answer.headers.get('etag') ?? '';
  const again = await fetch(`${origin}/console`, { headers: { 'if-none-match': etag } });
  t.equal(again.status, 304, 'a known page is not sent again');

  const names = [...html.matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map(([, name = '']) => name);
  t.ok(names.length > 20, 'the page names its files');
  let bytes = 0;
  for (const name of new Set(names)) {
    const file = await fetch(`${origin}/${name}`, { headers: { 'accept-encoding': 'identity' } });
    t.equal(file.status, 200, name);
    t.match(file.headers.get('cache-control'), /immutable/);
    const text = await file.text();
    bytes += Number((await packedLength(`${origin}/${name}`)) ?? 0);
    for (const [, relative = ''] of text.matchAll(/from ?"(\.[^"]+)"|from '(\.[^']+)'/g)) {
      const url = new URL(relative, `${origin}/${name}`);
      t.ok(html.includes(url.pathname.slice(1)), `${relative} is preloaded`);
    }
  }
  t.ok(bytes > 10_000 && bytes <= mostBytes, `all files together: ${bytes} bytes`);

  const [first = ''] = names.filter((name) => name.endsWith('main.js'));
  const other = first.replace(/assets\/\w+\//, 'assets/0123456789abcdef/');
  const moved = await fetch(`${origin}/${other}`, { redirect: 'manual' });
  t.equal(moved.status, 302, 'a page of another version gets the files of this one');
  t.equal(moved.headers.get('cache-control'), 'no-store');
  t.equal((await fetch(`${origin}/${other}`)).url, `${origin}/${first}`);
  const outside = first.replace('plugins/console/web/main.js', '..%2f..%2fpackage.json');
  t.equal((await fetch(`${origin}/${outside}`)).status, 404, 'nothing else is served');
});

t.test('it can be switched off', async (t) => {
  const settings = { CONSOLE_ENABLED: 'false' };
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { origin } = new URL(gateway.baseUrl);
  t.equal((await fetch(`${origin}/console`)).status, 404);
  const home = await fetch(`${origin}/`, { redirect: 'manual' });
  t.equal(home.headers.get('location'), 'v1/docs');
});

/** The length over the wire; `fetch` unpacks what it answers. */
async function packedLength(url: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const packed = Buffer.concat(chunks);
        gunzipSync(packed);
        resolve(packed.length);
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { errorTable } from '../../core/errors.ts';
import { readGuides } from '../../plugins/api/openapi/guides.ts';
import { runGateway } from '../harness/gateway.ts';

const docs = join(import.meta.dirname, '../../docs');

/** The size of a compressed answer's body: `fetch` shows only what is unpacked. */
function onTheWire(address: string): Promise<{ encoding: string | undefined; bytes: number }> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'gzip' };
    get(address, { headers }, async (answer) => {
      let bytes = 0;
      for await (const chunk of answer) bytes += (chunk as Buffer).length;
      resolve({ encoding: answer.headers['content-encoding'], bytes });
    }).on('error', reject);
  });
}

t.test('what language models read names every operation, schema and guide', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const origin = new URL(gateway.baseUrl).origin;
  const text = async (address: string) => {
    const answer = await fetch(address);
    t.equal(answer.status, 200, address);
    return await answer.text();
  };
  const [short, full, json] = await Promise.all([
    text(`${origin}/llms.txt`),
    text(`${origin}/llms-full.txt`),
    text(`${origin}/v1/docs/openapi.json`),
  ]);
  const document = JSON.parse(json);
  for (const [path, methods] of Object.entries<Record<string, { description: string }>>(
    document.paths,
  )) {
    for (const [method, { description }] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      t.ok(short.includes(`\n- \`${name}\`: `), name);
      t.ok(full.includes(`\n### ${name}: `), name);
      t.ok(full.includes(description), `${name} as it is described`);
    }
  }
  t.ok(full.includes(JSON.stringify(document.components.schemas)));
  const guides = readGuides();
  for (const { name, title } of guides) {
    const served = await text(`${origin}/v1/docs/${name}.md`);
    t.ok(short.includes(`[${title}](${origin}/v1/docs/${name}.md)`), title);
    t.ok(full.includes(served), `${title} as a whole`);
    for (const [, link = ''] of served.matchAll(/\]\(((?!#)[^)]+)\)/g)) {
      t.match(link, /^https?:\/\//, 'no link leads into a folder that is not served');
      if (link.startsWith(origin)) t.equal((await fetch(link)).status, 200, link);
    }
  }
  const chapters = guides.filter(({ isChapter }) => isChapter);
  for (const { text } of chapters) {
    const [heading = ''] = text.split('\n');
    t.ok(document.info.description.includes(`\n\n${heading}\n`), heading);
  }
  t.ok(chapters.length >= 4);
  t.equal((await fetch(`${origin}/v1/docs/architecture.md`)).status, 404, 'not for users');
  for (const name of ['openapi.yaml', 'openapi.json']) {
    const { encoding, bytes } = await onTheWire(`${origin}/v1/docs/${name}`);
    t.equal(encoding, 'gzip', name);
    t.ok(bytes < 150_000, `${name} takes ${bytes} bytes on the wire`);
  }
});

t.test('the index names every page', async (t) => {
  const index = await readFile(join(docs, 'README.md'), 'utf8');
  const pages = (await readdir(docs)).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  for (const page of pages) t.ok(index.includes(`](${page})`), page);
});

t.test('the page of errors has every code, with status and sentence', async (t) => {
  const page = await readFile(join(docs, 'errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| `(\w+)` \| (.+) \|$/gm)].map(
    ([, status, code, text]) => [code, { status: Number(status), text }],
  );
  const { unauthorized: _, ...others } = errorTable;
  t.strictSame(Object.fromEntries(rows), others);
});

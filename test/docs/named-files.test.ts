import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';

const project = join(import.meta.dirname, '../..');
const documents = ['docs/README.md', 'docs/architecture.md', 'CONTRIBUTING.md'];

for (const document of documents) {
  t.test(`what ${document} names is there`, async (t) => {
    const text = await readFile(join(project, document), 'utf8');
    const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    const code = codeOf(text);
    const links = matches(text, /\]\(([^):]+)\)/g).map((link) => join(dirname(document), link));
    const paths = code.flatMap((part) => matches(part, /(?<=^|\s)(\.?[\w-]+\/[\w./-]+)/g));
    const files = code.filter((part) => /^\.?[\w-]+(\.[\w-]+)*\.(ts|md|json|cjs|yaml)$/.test(part));
    const commands = code.flatMap((part) => matches(part, /\bnpm run (?:--silent )?([\w:-]+)/g));
    t.not(links.length + paths.length, 0);
    for (const path of new Set([...links, ...paths])) t.ok(existsSync(join(project, path)), path);
    for (const file of files) t.ok(existsSync(join(project, file)), file);
    for (const command of new Set(commands)) t.hasProp(scripts, command);
  });
}

/** Pages that people read on their own. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'THIRD_PARTY_NOTICES.md',
  'examples/README.md',
];
for (const page of [
  ...pages,
  ...(await readdir(join(project, 'docs')))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]) {
  t.test(`the links of ${page} lead somewhere`, async (t) => {
    const text = await readFile(join(project, page), 'utf8');
    for (const link of new Set(matches(withoutBlocks(text), /\]\((?!https?:)([^)\s]+)\)/g))) {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      t.ok(existsSync(join(project, file)), link);
      if (anchor === undefined) continue;
      const headings = matches(await readFile(join(project, file), 'utf8'), /^#+ (.+)$/gm);
      t.ok(headings.map(anchorOf).includes(anchor), link);
    }
  });
}

/** What a link calls a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}

/** What is set as code: in blocks of shell, and within lines. */
function codeOf(text: string): readonly string[] {
  const prose = withoutBlocks(text);
  return [...matches(text, /^```sh\n([\s\S]*?)^```$/gm), ...matches(prose, /`([^`\n]+)`/g)];
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, part]) => part ?? []);
}

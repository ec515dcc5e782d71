import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

/** What is set as code: in blocks of shell, and within lines. */
function codeOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...matches(text, /^```sh\n([\s\S]*?)^```$/gm), ...matches(prose, /`([^`\n]+)`/g)];
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, part]) => part ?? []);
}

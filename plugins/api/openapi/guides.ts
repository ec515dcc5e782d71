import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page of the documentation that the gateway hands out. */
export interface Guide {
  /** Its file without `.md`. */
  readonly name: string;
  readonly title: string;
  /** What it is about, in a sentence. */
  readonly about: string;
  /** Whether the reference shows it as a chapter. */
  readonly isChapter: boolean;
  /** Markdown, beginning with its title as a heading. */
  readonly text: string;
}

/** Where the pages are: beside the sources, and copied when the program was compiled. */
const folder = join(import.meta.dirname, '../../../docs');

/**
 * The pages that the index of the documentation names for users: under "Chapters" those that the reference shows, under
 * "Guides" the others.
 * @throws Error when a page that the index names is not there
 */
export function readGuides(): readonly Guide[] {
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  return index.split(/^## /m).flatMap((section) => {
    const isChapter = section.startsWith('Chapters\n');
    if (!isChapter && !section.startsWith('Guides\n')) return [];
    return [...section.matchAll(/^- \[(.+)\]\(([\w-]+)\.md\): (.+)$/gm)].map(
      ([, title = '', name = '', about = '']) => {
        const text = readFileSync(join(folder, `${name}.md`), 'utf8');
        return { name, title, about, isChapter, text };
      },
    );
  });
}

/**
 * A page as it is handed out: links to other pages lead to this gateway, links to files of the project are plain words,
 * and remarks for whoever edits it are left out.
 * @param docsUrl the address below which the pages are
 */
export function guideText({ text }: Guide, guides: readonly Guide[], docsUrl: string): string {
  const names = new Set(guides.map(({ name }) => name));
  return text
    .replaceAll(/^<!--[\s\S]*?-->\n+/gm, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g, (_, words: string, target: string) => {
      const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
      return names.has(name) ? `[${words}](${docsUrl}/${name}.md${anchor})` : words;
    });
}

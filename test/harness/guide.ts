import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const project = join(import.meta.dirname, '../..');

/** A code block of a guide. */
export interface GuideBlock {
  readonly language: string;
  /** What follows the language: the file that the block is kept in, or null. */
  readonly file: string | null;
  readonly text: string;
}

/**
 * Every code block of a document, in order, so that a test can show that it runs it. A block that begins with
 * ` ```ts src/driver.ts ` is the file of that name.
 * @param document its path in the project, such as `docs/drivers.md`
 */
export async function guideBlocks(document: string): Promise<readonly GuideBlock[]> {
  const text = await readFile(join(project, document), 'utf8');
  return [...text.matchAll(/^```(\S*)[ ]?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', file = '', block = '']) => ({
      language,
      file: file === '' ? null : file,
      text: block,
    }),
  );
}

/** The files that a document's blocks make, by name: blocks of one name follow each other in one file. */
export function guideFiles(blocks: readonly GuideBlock[]): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { file, text } of blocks) {
    if (file !== null) files[file] = `${files[file] ?? ''}${text}`;
  }
  return files;
}

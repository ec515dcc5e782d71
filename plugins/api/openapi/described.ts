import type { AnyOperation } from '../../../core/operation.ts';
import { codeSamples } from './code-samples.ts';
import type { OpenApiDocument } from './document.ts';
import { type Guide, guideText } from './guides.ts';

/** The document as it is read: with the chapters of the guides in front, and a sample call in each operation. */
export function described(
  document: OpenApiDocument,
  operations: readonly AnyOperation[],
  guides: readonly Guide[],
  baseUrl: string,
): OpenApiDocument {
  const chapters = guides
    .filter(({ isChapter }) => isChapter)
    .map((guide) => guideText(guide, guides, `${baseUrl}/docs`));
  const description = [document.info.description, ...chapters].join('\n\n');
  const paths = structuredClone(document.paths) as Record<string, Record<string, object>>;
  for (const operation of operations) {
    const methods = paths[operation.path];
    const method = operation.method.toLowerCase();
    if (methods === undefined) continue;
    methods[method] = { ...methods[method], 'x-codeSamples': codeSamples(operation, baseUrl) };
  }
  return { ...document, info: { ...document.info, description }, paths };
}

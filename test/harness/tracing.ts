import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guideBlocks, guideFiles } from './guide.ts';
import type { Teardown } from './processes.ts';

/** The environment of a gateway that exports its spans to a collector: the recipe of the guide, beside the libraries. */
export async function tracing(
  t: Teardown,
  collector: string,
): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), 'tracing-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const files = guideFiles(await guideBlocks('docs/production.md'));
  const recipe = join(folder, 'tracing.mjs');
  await writeFile(recipe, files['tracing.mjs'] ?? '');
  const libraries = join(import.meta.dirname, '../../node_modules');
  await symlink(libraries, join(folder, 'node_modules'));
  return { NODE_OPTIONS: `--import=${recipe}`, OTEL_EXPORTER_OTLP_ENDPOINT: collector };
}

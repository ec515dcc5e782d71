import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** One finding of the linter. */
export interface LintProblem {
  readonly ruleId: string;
  readonly severity: 'error' | 'warn';
  readonly message: string;
  /** JSON pointer. */
  readonly place: string;
}

interface Report {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly severity: 'error' | 'warn';
    readonly message: string;
    readonly location: readonly { readonly pointer?: string }[];
  }[];
}

const program = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin/cli.js',
);

/** Runs an independent linter (Redocly, its recommended rules) over an OpenAPI document. */
export async function lintOpenApi(yaml: string): Promise<LintProblem[]> {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    await writeFile(join(folder, 'openapi.yaml'), yaml);
    const args = [
      'lint',
      'openapi.yaml',
      '--extends=recommended',
      '--format=json',
      '--max-problems=500',
    ];
    const run = await promisify(execFile)(process.execPath, [program, ...args], {
      cwd: folder,
      maxBuffer: 16 * 1024 * 1024,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
    const report: Report = JSON.parse(run.stdout.slice(run.stdout.indexOf('{')));
    return report.problems.map(({ ruleId, severity, message, location }) => ({
      ruleId,
      severity,
      message,
      place: location[0]?.pointer ?? '',
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

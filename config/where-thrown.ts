import { execFile } from 'node:child_process';

/** How long the parser may take to show a position, milliseconds. */
const parserMs = 5_000;

/**
 * Where an error of a package was thrown, as ` (FILE:LINE:COLUMN)` for the end of a sentence; empty where nobody knows.
 * @param url what was imported
 */
export async function whereThrown(error: unknown, url: string | null = null): Promise<string> {
  if (!(error instanceof Error)) return '';
  const frame = /^ +at (?:.*\()?(?:async )?((?:file:\/\/|\/)\S+?:\d+:\d+)\)?$/m.exec(
    error.stack ?? '',
  );
  const isParsed = error.name === 'SyntaxError' && frame === null && url !== null;
  const position = isParsed ? await whereParsed(url) : frame?.[1];
  return position === undefined ? '' : ` (${position.replace('file://', '')})`;
}

/** The parser's position is in no property of its error: only an uncaught one shows it. Nothing of the package runs. */
function whereParsed(url: string): Promise<string | undefined> {
  const program = `await import(${JSON.stringify(url)})`;
  const args = ['--input-type=module', '--eval', program];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: parserMs }, (_error, _stdout, stderr) => {
      resolve(/^file:\/\/\S+:\d+$/m.exec(stderr)?.[0]);
    });
  });
}

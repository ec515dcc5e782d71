import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Replaces every folder among the arguments by the tests in it, since tap would run whatever else is there as well.
 * Tests that have a command of their own (bench, soak, sessions) are left out, unless the folder is theirs.
 * @throws Error when a folder has no test: without a name, tap would run all
 */
export function nameTests(args: readonly string[]): readonly string[] {
  return args.flatMap((arg) => {
    if (statSync(arg, { throwIfNoEntry: false })?.isDirectory() !== true) return [arg];
    const tests = readdirSync(arg, { encoding: 'utf8', recursive: true })
      .filter(
        (name) =>
          name.endsWith('.test.ts') && !/(^|\/)(bench|soak|sessions|node_modules)\//.test(name),
      )
      .map((name) => join(arg, name));
    if (tests.length === 0) throw new Error(`There is no test in ${arg}.`);
    return tests.sort();
  });
}

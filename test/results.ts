/** How many assertions of a run held, and how many did not. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Reads the counts from tap's closing line, such as `# { total: 8, pass: 5, fail: 2, skip: 1 }`.
 * Output without such a line comes from a run that executed nothing.
 */
export function readResults(output: string): Results {
  const closing = [...output.matchAll(/^# (\{ total: \d.*\})$/gm)].at(-1)?.[1] ?? '';
  const count = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(closing)?.[1] ?? 0);
  return { passed: count('pass'), failed: count('fail') };
}

/**
 * Shortens TAP, line by line, for a log that people read: a file that passed becomes its one
 * closing line, a file that failed stays whole. What comes out is TAP again.
 */
export class ResultFilter {
  #file: string[] | undefined;

  /** Answers the lines to print now. */
  take(line: string): readonly string[] {
    if (line.startsWith('# Subtest: ')) {
      this.#file = [line];
      return [];
    }
    if (this.#file === undefined) return [line];
    this.#file.push(line);
    if (!/^(not )?ok /.test(line)) return [];
    const lines = line.startsWith('ok ') ? [line] : this.#file;
    this.#file = undefined;
    return lines;
  }

  /** Answers the lines still held back, when the output ended within a file. */
  end(): readonly string[] {
    return this.#file ?? [];
  }
}

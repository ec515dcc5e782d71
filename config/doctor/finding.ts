/** What `doctor` found of one thing. */
export interface Finding {
  /** What was looked at: `settings`, `disk`, `clock`. */
  readonly check: string;
  readonly ok: boolean;
  /** What is found; of a problem also what to do. */
  readonly sentence: string;
}

export function good(check: string, sentence: string): Finding {
  return { check, ok: true, sentence };
}

export function bad(check: string, sentence: string): Finding {
  return { check, ok: false, sentence };
}

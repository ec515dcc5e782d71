import { messageOf } from './error-code.ts';
import { masked } from './masked.ts';

/** The most causes that a sentence names. */
const most = 3;

/** The longest sentence, in characters. */
const longest = 300;

/**
 * Why an error came about, as its causes say: a sentence for the log, without a phone number in full. Null where it has
 * none. Pure.
 */
export function causesOf(thrown: unknown): string | null {
  const reasons = new Set<string>();
  let error = thrown;
  for (let depth = 0; depth < most && error instanceof Error; depth += 1) {
    error = error.cause;
    if (error !== undefined && error !== null) reasons.add(saidOf(error));
  }
  if (reasons.size === 0) return null;
  const said = masked([...reasons].join(': '));
  return said.length > longest ? `${said.slice(0, longest - 1)}…` : said;
}

/** The message; of an error without one its code, else its name. */
function saidOf(thrown: unknown): string {
  const message = messageOf(thrown);
  if (message !== '' || !(thrown instanceof Error)) return message;
  return 'code' in thrown ? String(thrown.code) : thrown.name;
}

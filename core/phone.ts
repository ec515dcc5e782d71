import { parsePhoneNumberFromString } from 'libphonenumber-js';

const e164 = /^\+[1-9][0-9]{6,14}$/;

/** Cache of parsed texts, each with its result: most numbers are written to again. */
const known = new Map<string, string | null>();
const mostKnown = 20_000;

/**
 * Reads a phone number in E.164 format.
 * @returns the number as it is stored, with `+`; null when it is not E.164 or no number of its country can
 *   have that length
 */
export function parsePhone(text: string): string | null {
  if (!e164.test(text)) return null;
  const before = known.get(text);
  if (before !== undefined) return before;
  const parsed = parsePhoneNumberFromString(text);
  const phone = parsed?.isPossible() === true ? parsed.number : null;
  if (known.size >= mostKnown) known.clear();
  known.set(text, phone);
  return phone;
}

/** The same for a number in a path or query, where the `+` may be absent or have become a space. */
export function parsePhoneInAddress(text: string): string | null {
  return parsePhone(`+${text.replace(/^[+ ]/, '')}`);
}

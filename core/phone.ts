import { parsePhoneNumberFromString } from 'libphonenumber-js';

const e164 = /^\+[1-9][0-9]{6,14}$/;

/**
 * Reads a phone number in E.164 format.
 * @returns the number as it is stored, with `+`; null when it is not E.164 or no number of its country can
 *   have that length
 */
export function parsePhone(text: string): string | null {
  if (!e164.test(text)) return null;
  const parsed = parsePhoneNumberFromString(text);
  return parsed?.isPossible() === true ? parsed.number : null;
}

/** The same for a number in a path or query, where the `+` may be absent or have become a space. */
export function parsePhoneInAddress(text: string): string | null {
  return parsePhone(`+${text.replace(/^[+ ]/, '')}`);
}

import { toUSVString } from 'node:util';

/** A text as databases keep it: NUL, and each half of a surrogate pair, becomes U+FFFD. Pure. */
export function storedText(text: string): string {
  const wellFormed = toUSVString(text);
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

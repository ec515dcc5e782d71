import { contactPhone } from '../seed.ts';

/** A text to a contact. */
export interface Text {
  readonly to: string;
  readonly text: string;
}

let written = 0;

/** So many texts, each of which there is once, to so many contacts in turn. */
export function textsTo(contacts: number, count: number): readonly Text[] {
  return Array.from({ length: count }, (_, n) => {
    written += 1;
    return { to: contactPhone(n % contacts), text: `Your order ${written} is on its way.` };
  });
}

/** What goes to each contact, in order. */
export function perContact(texts: readonly Text[]): ReadonlyMap<string, readonly Text[]> {
  const found = new Map<string, Text[]>();
  for (const text of texts) {
    const own = found.get(text.to);
    if (own === undefined) found.set(text.to, [text]);
    else own.push(text);
  }
  return found;
}

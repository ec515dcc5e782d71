/**
 * A moment, which stays; or the digits of a phone number as people and networks write it: at least seven, also with
 * spaces and dashes between.
 */
const momentsAndNumbers =
  /(\d{4}-\d\d-\d\dT[\d:.]+Z)|(?<![\w.])\+?\d(?:(?: ?\(\d+\) ?)|[ -]?\d){6,}/g;

/** A sentence for the log: of every phone number in it only the last four digits are left. Pure. */
export function masked(sentence: string): string {
  return sentence.replaceAll(momentsAndNumbers, (found: string, moment: string | undefined) =>
    moment === undefined ? `…${found.replaceAll(/\D/g, '').slice(-4)}` : found,
  );
}

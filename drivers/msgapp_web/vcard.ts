/** The most characters of a card that are read, a photo among them. */
const longest = 500_000;

/** A property behind the name of its group. Each part ends in one place: else a long line takes quadratic time. */
const property = /^(?:[\w-]+\.)?([A-Za-z-]+)(?:[^A-Za-z:-][^:]*)?:(.*)$/;

/** The name and the phone numbers of a contact card (vCard, RFC 6350); a card without them gives none. Pure. */
export function cardOf(card: string): {
  readonly name: string | null;
  readonly phones: readonly string[];
} {
  // A line that begins with a space goes on where the one before has ended.
  const lines = card
    .slice(0, longest)
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/);
  const valuesOf = (wanted: string): readonly string[] =>
    lines.flatMap((line) => {
      const [, name, value] = property.exec(line) ?? [];
      return name?.toUpperCase() === wanted && value?.trim() ? [value.trim()] : [];
    });
  return {
    name: valuesOf('FN')[0] ?? null,
    phones: valuesOf('TEL').map((value) => value.replace(/^tel:/i, '')),
  };
}

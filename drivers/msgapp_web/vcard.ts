/** The name and the phone numbers of a contact card (vCard, RFC 6350); a card without them gives none. Pure. */
export function cardOf(card: string): {
  readonly name: string | null;
  readonly phones: readonly string[];
} {
  // A line that begins with a space goes on where the one before has ended.
  const lines = card.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/);
  const valuesOf = (property: string): readonly string[] =>
    lines.flatMap((line) => {
      const [, name, value] = /^(?:[\w-]+\.)?([A-Za-z-]+)[^:]*:(.*)$/.exec(line) ?? [];
      return name?.toUpperCase() === property && value?.trim() ? [value.trim()] : [];
    });
  return {
    name: valuesOf('FN')[0] ?? null,
    phones: valuesOf('TEL').map((value) => value.replace(/^tel:/i, '')),
  };
}

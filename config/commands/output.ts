/** A command's result: JSON for programs, lines for people. */
export interface Output {
  readonly json: object;
  readonly text: string;
  /** The exit code; 0 when absent. */
  readonly code?: number;
  /** What a command changed, for the audit; absent where it only shows. */
  readonly changed?: { readonly tenantId: string | null; readonly target: string | null };
}

/** What a terminal acts on, or does not show: some cells are names that tenants give. */
const unprintable = /\p{C}/gu;

/** Lines up rows under their headings; an empty list says so. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'There are none.';
  const all = [headings, ...rows].map((row) =>
    row.map((cell) => cell.replaceAll(unprintable, '\ufffd')),
  );
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What an error of any kind says, for a line of the log or a reason. Pure. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What an error of any kind says, for a line of the log or a reason; never what could not be read, such as a key. Pure. */
export function errorText(error: unknown): string {
  // Its message quotes the text that is no JSON.
  if (error instanceof SyntaxError) return error.name;
  return error instanceof Error ? error.message : String(error);
}

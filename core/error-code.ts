/** Whether something thrown is an error with this code, as those of Node.js and of many libraries have. Pure. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

/** Why it was thrown, to tell one reason from another: the code of an error, else its message. Pure. */
export function reasonOf(thrown: unknown): string {
  const isCoded = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string';
  return isCoded && thrown.code !== '' ? String(thrown.code) : messageOf(thrown);
}

/** Something thrown as an error: what is none becomes the message of one. Pure. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of something thrown; what is no error as text. Pure. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The error number with which the network has answered a question; null: the question failed otherwise. Pure. */
export function refusalOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('data' in error)) return null;
  return typeof error.data === 'number' ? error.data : null;
}

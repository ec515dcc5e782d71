/** Whether a value that was read as JSON is an object: not null and not a list. */
export function isJsonObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

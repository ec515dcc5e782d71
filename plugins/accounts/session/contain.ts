/**
 * Calls into code that is not ours, of a driver or of a part: whatever it throws, at once or later, reaches
 * `failed` and nobody else.
 */
export function contain(
  call: () => Promise<unknown> | unknown,
  failed: (error: unknown) => void,
): Promise<void> {
  try {
    return Promise.resolve(call()).then(() => undefined, failed);
  } catch (error) {
    failed(error);
    return Promise.resolve();
  }
}

/** Calls foreign code, of a driver or of a listener: whatever it throws, at once or later, reaches `failed` only. */
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

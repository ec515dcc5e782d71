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

/** Resolves when the promise settles or after so many milliseconds, whichever comes first. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Resolves when all have. @throws the first failure, once none is under way */
export async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((work) => work.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

import { randomUUID } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The temporary folder does not take a file that is to be sent. */
export class NoTemporaryRoom extends Error {}

/**
 * Checks that the library can keep an encrypted file of this size, in bytes, until it is uploaded: an error that it
 * meets there has no listener and would end the process.
 * @throws NoTemporaryRoom
 */
export async function requireTemporaryRoom(size: number): Promise<void> {
  const folder = tmpdir();
  const probe = join(folder, `messaging-gateway-${randomUUID()}`);
  try {
    await writeFile(probe, '', { flag: 'wx' });
    await rm(probe);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new NoTemporaryRoom(`the temporary folder cannot be written${code}`, { cause });
  }
  const { bavail, bsize } = await statfs(folder);
  // Of audio the library keeps the original, too.
  if (bavail * bsize < 2 * size) throw new NoTemporaryRoom('the temporary folder is full');
}

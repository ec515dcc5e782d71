import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { secretBytes } from './keyring.ts';

/** In the data folder. */
export const secretFile = 'gateway-secret';

/**
 * The secret that an embedded gateway keeps in its data folder, in base64; made by the first start,
 * readable by the owner only. Processes that start at the same moment get the same one.
 * @param isSealed the database has a secret already: none is made
 * @returns the file's text, unchecked
 * @throws StartRefusal when the file is missing though the database is sealed, or cannot be read or made
 */
export async function keptSecret(dataDir: string, isSealed: boolean): Promise<string> {
  const path = join(dataDir, secretFile);
  try {
    const kept = await readKept(path);
    if (kept === null && isSealed) {
      throw new StartRefusal(
        `The file ${path} is missing, and the database is sealed with a secret: put the file back, which no ` +
          '`backup` has, or set GATEWAY_SECRET to what stood in it.',
      );
    }
    return kept ?? (await makeKept(dataDir, path));
  } catch (cause) {
    if (cause instanceof StartRefusal || !(cause instanceof Error && 'code' in cause)) throw cause;
    throw new StartRefusal(
      `The file ${path} can not be kept (${cause.code}): give this user the right to write there, set DATA_DIR to ` +
        'another folder, or set GATEWAY_SECRET.',
      { cause },
    );
  }
}

async function readKept(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function makeKept(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(secretBytes).toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // A link is made with its whole content or not at all, and never over an existing file.
    await link(draft, path);
    await syncFolder(dataDir);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  return readFile(path, 'utf8');
}

/** So that a power failure does not take back the name of a secret that has been used. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

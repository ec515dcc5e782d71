import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';

/** A file or a folder of the work folder, and where it goes. */
export type Move = readonly [from: string, to: string];

/** Name of the list of what is being put in place. A killed process leaves it in its work folder. */
const listName = 'placing.json';

/**
 * Moves files and folders of a work folder to their places, also on other volumes: first all of them beside their
 * places, then each into its own, in this order.
 */
export async function putInPlace(folder: string, moves: readonly Move[]): Promise<void> {
  const places = moves.map(([, to]) => to);
  for (const to of places) await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, listName), JSON.stringify(places), { flush: true });
  for (const [from, to] of moves) await moveBeside(from, beside(to));
  for (const to of places) await rename(beside(to), to);
}

/**
 * What a killed process has left in these places, and beside them. Once the last place is taken, what is in the others
 * is data, and copies beside them alone are left.
 */
export function leftInPlace(folder: string): readonly string[] {
  const places = listIn(folder);
  const copies = places.map(beside);
  const last = places.at(-1);
  return last === undefined || existsSync(last) ? copies : [...places, ...copies];
}

function listIn(folder: string): readonly string[] {
  const list = join(folder, listName);
  if (!existsSync(list)) return [];
  try {
    return JSON.parse(readFileSync(list, 'utf8')) as readonly string[];
  } catch {
    return []; // The process ended while it wrote the list, before the first move.
  }
}

const beside = (place: string): string => `${place}.partial`;

async function moveBeside(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await cp(from, to, { recursive: true });
  }
}

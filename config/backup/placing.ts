import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';

/** A file or a folder of the work folder, and where it goes. */
export type Move = readonly [from: string, to: string];

/** Name of the list of files being moved. A killed process leaves the list in its work folder. */
const listName = 'placing.json';

/**
 * Moves files and folders of a work folder to their targets, also on other volumes: first all of them beside their
 * targets, then each into its own, in this order.
 */
export async function putInPlace(folder: string, moves: readonly Move[]): Promise<void> {
  const targets = moves.map(([, to]) => to);
  for (const to of targets) await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, listName), JSON.stringify(targets), { flush: true });
  for (const [from, to] of moves) await moveBeside(from, beside(to));
  for (const to of targets) await rename(beside(to), to);
}

/**
 * What a killed process has left in these targets, and beside them. Once the last target is there, what is in the others
 * is data, and copies beside them alone are left.
 */
export function leftInPlace(folder: string): readonly string[] {
  const targets = listIn(folder);
  const copies = targets.map(beside);
  const last = targets.at(-1);
  return last === undefined || existsSync(last) ? copies : [...targets, ...copies];
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

const beside = (target: string): string => `${target}.partial`;

async function moveBeside(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await cp(from, to, { recursive: true });
  }
}

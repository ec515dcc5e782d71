import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Commands that put what is not finished into a work folder. */
type WorkCommand = 'backup' | 'restore';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Dependencies of a command's end. */
export interface WorkEnds {
  /** Gives back the lock under which no other process does this; called at the end. */
  unlock(): void;
  /** Files and folders elsewhere that go with a work folder, unless the command has finished. */
  leftBy(folder: string): readonly string[];
}

/** Finds the work folders of a command that lie beside the database, each behind what goes with it. */
export function unfinishedWork(
  database: string,
  command: WorkCommand,
  leftBy: WorkEnds['leftBy'],
): readonly string[] {
  const parent = dirname(database);
  const folders = readdirSync(parent).filter((name) =>
    name.startsWith(prefixOf(database, command)),
  );
  const found = folders.map((name) => join(parent, name));
  return [...found.flatMap(leftBy), ...found];
}

const prefixOf = (database: string, command: WorkCommand): string =>
  `${basename(database)}.unfinished-${command}-`;

/**
 * Runs a command with a temporary folder beside the database. At the end it deletes the folder and what is left over
 * elsewhere. A signal ends the command as soon as SQLite has finished the copy under way. What killed commands have left
 * is deleted before the start.
 */
export async function inWorkFolder<T>(
  database: string,
  command: WorkCommand,
  { unlock, leftBy }: WorkEnds,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const clear = () => {
    for (const path of unfinishedWork(database, command, leftBy)) {
      rmSync(path, { recursive: true, force: true });
    }
  };
  const end = () => {
    for (const signal of signals) process.off(signal, stop);
    try {
      clear();
    } finally {
      unlock();
    }
  };
  const stop = (signal: NodeJS.Signals) => {
    end();
    process.stderr.write(`${signal} has ended the ${command}: nothing is left of it.\n`);
    process.kill(process.pid, signal);
    // The first process of a container does not end by a signal that it does not handle.
    process.exit(128 + constants.signals[signal]);
  };
  try {
    clear();
    for (const signal of signals) process.on(signal, stop);
    return await run(await mkdtemp(join(dirname(database), prefixOf(database, command))));
  } finally {
    end();
  }
}

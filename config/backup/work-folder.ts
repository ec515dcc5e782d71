import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Where a command puts what is not finished. */
export interface Work {
  readonly folder: string;
  /** Files and folders elsewhere that are to go, too, unless the command takes them out when it is done. */
  readonly leftovers: Set<string>;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/** What the end of a command needs. */
export interface WorkEnds {
  /** Gives back the lock under which no other process does this; called at the end. */
  unlock(): void;
  /** Files and folders elsewhere that go with the work folder of a command that has not finished. */
  leftBy?(folder: string): readonly string[];
}

/**
 * Runs a command with a new folder beside the database, and deletes it at the end with what is left over, also where a
 * signal ends it: as soon as SQLite has copied the database that it is copying. What a killed one has left is deleted
 * before.
 */
export async function inWorkFolder<T>(
  database: string,
  command: 'backup' | 'restore',
  { unlock, leftBy = () => [] }: WorkEnds,
  run: (work: Work) => Promise<T>,
): Promise<T> {
  const place = dirname(database);
  const prefix = `${basename(database)}.unfinished-${command}-`;
  const leftovers = new Set<string>();
  const clear = () => {
    const folders = readdirSync(place).filter((name) => name.startsWith(prefix));
    const found = folders.map((name) => join(place, name));
    for (const path of [...found.flatMap(leftBy), ...found, ...leftovers]) {
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
    const folder = await mkdtemp(join(place, prefix));
    return await run({ folder, leftovers });
  } finally {
    end();
  }
}

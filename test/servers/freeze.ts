import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A thread that a signal stopped, or one that is gone: see `man 5 proc_pid_stat`. */
const still = /^[TtZXx]$/;

/**
 * Stops the process, or with `-pid` the group that it leads, and resolves once none of its threads runs any more: the
 * signal itself only asks for that, and on a busy machine a thread may answer one more request before.
 */
export async function freeze(target: number): Promise<void> {
  process.kill(target, 'SIGSTOP');
  const begun = performance.now();
  while (!stands(target)) {
    if (performance.now() - begun > 10_000) throw new Error(`${target} runs 10 s after SIGSTOP`);
    await sleep(1);
  }
}

/** Where the system tells nothing of threads, the signal has to do. */
function stands(target: number): boolean {
  if (!existsSync('/proc/self/task')) return true;
  const pids = target > 0 ? [target] : membersOf(-target);
  return pids.every((pid) =>
    read(() => readdirSync(`/proc/${pid}/task`), []).every((thread) =>
      still.test(statOf(`${pid}/task/${thread}`)[0] ?? 'X'),
    ),
  );
}

function membersOf(group: number): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(statOf(`${pid}`)[2]) === group);
}

/** State, parent, group and so on; the name before them may contain anything. Empty for what is gone. */
function statOf(path: string): readonly string[] {
  const text = read(() => readFileSync(`/proc/${path}/stat`, 'utf8'), '');
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read<T>(get: () => T, gone: T): T {
  try {
    return get();
  } catch {
    return gone;
  }
}

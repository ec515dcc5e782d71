import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './story.ts';

/** What became of a shell script. */
export interface ShellRun {
  /** Null when it took too long. */
  readonly code: number | null;
  /** Both streams, with each command before what it printed. */
  readonly output: string;
}

/**
 * Runs a script in bash, ended by the first command that fails, and then ends whatever the script has left running.
 * The environment is `env` and nothing of the test runner's but where programs are found.
 * @param folder where it runs
 */
export async function runShell(
  script: string,
  folder: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ShellRun> {
  const { PATH, HOME } = process.env;
  const shell = spawn('bash', ['-xeuo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which can be ended as one.
    detached: true,
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const late = setTimeout(() => shell.kill('SIGKILL'), timeoutMs);
  const [code]: (number | null)[] = await once(shell, 'exit');
  clearTimeout(late);
  const group = -(shell.pid ?? 0);
  if (signal(group, 'SIGTERM')) {
    const gone = async () => (signal(group, 0) ? undefined : true);
    await until('the processes of the script to end', gone, 10_000).catch(() =>
      signal(group, 'SIGKILL'),
    );
  }
  return { code: code ?? null, output };
}

/** Sends a signal to a group of processes; false when it is empty. */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  if (group === 0) return false;
  try {
    process.kill(group, name);
    return true;
  } catch {
    return false;
  }
}

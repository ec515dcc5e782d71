import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../core/waiting.ts';
import { freePort } from './ports.ts';

/** Longer than a gateway takes to stop before it ends itself, in milliseconds. */
const goneMs = 60_000;

const project = join(import.meta.dirname, '../..');

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Whoever runs a function at the end of a test: tap's `t`. */
export interface Teardown {
  teardown(fn: () => Promise<void>): void;
}

/** A process of a test. */
export class ProjectProcess {
  readonly pid: number;
  readonly exit: Promise<Exit>;
  readonly #child: ReturnType<typeof launch>;
  #output = '';

  constructor(child: ReturnType<typeof launch>) {
    if (child.pid === undefined) throw new Error('it did not start: is there memory left?');
    this.pid = child.pid;
    this.#child = child;
    this.exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
  }

  /** All that it has printed so far, on both streams. */
  get output(): string {
    return this.#output;
  }

  /**
   * Resolves with the first match in its output, past or to come.
   * @throws with the output if the process ends or `timeoutMs` pass before.
   */
  async waitFor(pattern: RegExp, timeoutMs = 20_000): Promise<RegExpMatchArray> {
    return await this.#until(async () => this.#output.match(pattern), String(pattern), timeoutMs);
  }

  /** Resolves when `url` answers 200. @throws as `waitFor` does. */
  async waitForOk(url: string, timeoutMs = 60_000): Promise<void> {
    const ask = () => fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    const answersOk = async () => ((await ask())?.status === 200 ? true : null);
    await this.#until(answersOk, `200 from ${url}`, timeoutMs);
  }

  /**
   * Sends the signal and resolves when the process is gone; at once if it is already. A frozen one goes on to hear it.
   * @throws with the output if the process still runs after a minute
   */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.#child.kill(signal);
    this.#child.kill('SIGCONT');
    return await withTimeout(goneMs, 'its end', this.exit).catch((cause: unknown) => {
      const output = this.#output;
      throw new Error(`${this.pid} has not ended after ${signal}:\n${output}`, { cause });
    });
  }

  async #until<T>(look: () => Promise<T | null>, what: string, timeoutMs: number): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const ended = this.#child.exitCode !== null || this.#child.signalCode !== null;
      if (ended) await sleep(100); // its last words may still be on their way
      const found = await look();
      if (found !== null) return found;
      if (ended) throw new Error(`The process ended before ${what}:\n${this.#output}`);
      if (performance.now() > deadline) {
        throw new Error(`No ${what} within ${timeoutMs} ms:\n${this.#output}`);
      }
      await sleep(50);
    }
  }
}

/**
 * Starts node with the arguments, such as `['main.ts', 'tenants', 'list']`, in the project's folder, or another,
 * and the environment of the test with `env` on top; undefined takes a variable away. It is killed
 * when the test ends.
 */
export function startProcess(
  t: Teardown,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  folder = project,
): ProjectProcess {
  // A bench that looks where the time goes; written when the process ends by itself.
  const { BENCH_PROFILES: profiles } = process.env;
  const profiled = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
  const command = [process.execPath, ...profiled, ...compiled(args)];
  // tap adds a loader to every child through NODE_OPTIONS, which takes 200 ms; a test may give others.
  const { NODE_OPTIONS: options } = env;
  const own = options === undefined ? [] : [`NODE_OPTIONS=${options}`];
  return startProgram(t, ['env', '-u', 'NODE_OPTIONS', ...own, ...command], env, folder);
}

/** The program as the run has compiled it; what is no part of it, or not run by `npm test`, is left to tsx. */
export function compiled(args: readonly string[]): readonly string[] {
  if (/\.m?js$/.test(args[0] ?? '')) return args;
  const { TEST_PROGRAM: folder = '' } = process.env;
  // Before it are options of node.
  const at = args.findIndex((arg) => arg.endsWith('.ts'));
  const output = join(folder, (args[at] ?? '').replace(/\.ts$/, '.js'));
  return folder !== '' && at >= 0 && existsSync(output)
    ? args.with(at, output)
    : ['--import', 'tsx', ...args];
}

/** Starts any program, with its arguments, the same way. */
export function startProgram(
  t: Teardown,
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
  folder = project,
): ProjectProcess {
  const started = new ProjectProcess(launch(command, env, folder));
  t.teardown(async () => {
    await started.kill('SIGKILL');
  });
  return started;
}

/**
 * Starts `main.ts serve` on a free port, or on `env.PORT`, and resolves when /readyz answers 200.
 * `env` should carry a DATA_DIR of the test's own.
 * @param program another one that serves
 * @param folder another working directory than the project's folder
 */
export async function startGateway(
  t: Teardown,
  env: NodeJS.ProcessEnv,
  program: readonly string[] = ['main.ts', 'serve'],
  folder?: string,
): Promise<{ readonly process: ProjectProcess; readonly url: string }> {
  const port = env.PORT ?? String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const started = startProcess(t, program, { ...env, HOST: '127.0.0.1', PORT: port }, folder);
  await started.waitForOk(`${url}/readyz`);
  return { process: started, url };
}

function launch([file = '', ...rest]: readonly string[], env: NodeJS.ProcessEnv, folder: string) {
  return spawn(file, rest, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

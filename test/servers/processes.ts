import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** All that is needed to start a process of a server, now or again after it was killed. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the environment of the process that starts it. */
  readonly env: Readonly<Record<string, string>>;
  /** The file that takes its output. */
  readonly log: string;
  /** It is up when `port` on 127.0.0.1 answers `hello` (base64, may be empty) with any byte. */
  readonly port: number;
  readonly hello: string;
  readonly timeoutMs: number;
}

/** Answers the first of `names` found in `folders`, the PATH and the system's sbin folders. */
export function findProgram(names: readonly string[], folders: readonly string[] = []) {
  const path = (process.env.PATH ?? '').split(delimiter);
  const searched = [...folders, ...path, '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return names
    .flatMap((name) => searched.filter(Boolean).map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}

/**
 * Starts the command as the leader of a process group of its own, which outlives its starter, and
 * answers its pid once it is up.
 * @throws if it ends or stays silent for `timeoutMs`; the message carries the end of its log.
 */
export async function start(command: Command): Promise<number> {
  const log = openSync(command.log, 'a');
  const child = spawn(command.file, command.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...command.env },
  });
  closeSync(log);
  const failed = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `code ${code}`}`));
  });
  child.unref();
  const failure = await Promise.race([failed, answers(command)]);
  if (failure !== undefined || child.pid === undefined) {
    if (child.pid !== undefined) await killGroup(child.pid);
    throw new Error(`${command.file} did not start: ${failure}.\n${endOf(command.log)}`);
  }
  return child.pid;
}

/** Kills the group led by `pid`, as a crash would, and resolves when its leader is gone. */
export async function killGroup(pid: number): Promise<void> {
  signalGroup(pid, 'SIGKILL');
  for (let waited = 0; isAlive(pid) && waited < 10_000; waited += 20) await sleep(20);
}

/** Sends the signal to every process of the group led by `pid`; a group that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves with nothing when the server answers, or with the reason when it does not in time. */
async function answers(command: Command): Promise<string | undefined> {
  const deadline = performance.now() + command.timeoutMs;
  while (performance.now() < deadline) {
    if (await saysSomething(command)) return undefined;
    await sleep(50);
  }
  return `port ${command.port} gave no answer within ${command.timeoutMs} ms`;
}

function saysSomething({ port, hello }: Command): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(Buffer.from(hello, 'base64')));
    socket.once('data', () => end(true));
    for (const event of ['error', 'close', 'timeout']) socket.once(event, () => end(false));
  });
}

function endOf(log: string): string {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(-20).join('\n') : '';
}

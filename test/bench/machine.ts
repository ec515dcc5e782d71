import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';

/** What a run was measured on. */
export interface Machine {
  readonly model: string;
  readonly cores: number;
  /** In GiB. */
  readonly memory: number;
  readonly node: string;
  /** As the programs themselves say it; empty where there is none. */
  readonly mariadb: string;
  readonly rabbitmq: string;
  readonly at: string;
}

/** This machine, with the versions of what is installed on it. */
export async function thisMachine(): Promise<Machine> {
  const [mariadb, rabbitmq] = await Promise.all([
    versionOf('mariadbd', '--version'),
    versionOf('rabbitmqctl', 'version'),
  ]);
  return {
    model: cpus()[0]?.model ?? '',
    cores: cpus().length,
    memory: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    mariadb,
    rabbitmq,
    at: new Date().toISOString(),
  };
}

/** The first number with dots that a program prints. */
async function versionOf(program: string, argument: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [argument]).catch(() => ({ stdout: '' }));
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? '';
}

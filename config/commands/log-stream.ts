import type { GatewayConfig } from '../schema.ts';

/** Whether the log is for a person to read: as set, and with `auto` where standard output is a terminal. */
export function isForPerson(format: GatewayConfig['log_format'], isTerminal: boolean): boolean {
  return format === 'auto' ? isTerminal : format === 'pretty';
}

/** Where the log of a process goes that a person watches: one short line each, on standard output. */
export async function prettyStream(): Promise<{ write(line: string): void }> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    singleLine: true,
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
  });
}

import { type Logger, pino } from 'pino';

/** The gateway's structured log: pino, so that plugins can make children of it. */
export type GatewayLog = Logger;

/**
 * Makes the process's log: JSON lines on standard output (or another stream).
 * @param level pino's levels; `silent` for none
 */
export function createLog(level: string, destination?: { write(line: string): void }): GatewayLog {
  const options = {
    level,
    base: undefined,
    redact: {
      paths: [
        '*.password',
        'body.code',
        '*.login_code',
        '*.pairing_code',
        '*.secret',
        '*.authorization',
        '*["x-api-key"]',
      ],
      censor: '***',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

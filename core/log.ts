import { type Logger, type LoggerOptions, pino } from 'pino';
import { GatewayError } from './errors.ts';

/** The gateway's structured log: pino, so that plugins can make children of it. */
export type GatewayLog = Logger;

/**
 * Makes the process's log: JSON lines on standard output (or another stream).
 * @param level pino's levels; `silent` for none
 */
export function createLog(level: string, destination?: { write(line: string): void }): GatewayLog {
  const options: LoggerOptions = {
    level,
    base: undefined,
    hooks: { logMethod: leaveOutReported },
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

/** Errors of a lasting condition, which has log lines of its own, are logged at the level debug only. */
const leaveOutReported: NonNullable<LoggerOptions['hooks']>['logMethod'] = function (
  line,
  method,
  level,
) {
  const [facts]: readonly unknown[] = line;
  const isReported = hasError(facts) && facts.err instanceof GatewayError && facts.err.reported;
  if (isReported && level > debugLevel && level < fatalLevel) this.debug(...line);
  else method.apply(this, line);
};

const debugLevel = pino.levels.values.debug ?? 20;
const fatalLevel = pino.levels.values.fatal ?? 60;

function hasError(facts: unknown): facts is { readonly err: unknown } {
  return typeof facts === 'object' && facts !== null && 'err' in facts;
}

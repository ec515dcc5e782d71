import { type Logger, type LoggerOptions, pino } from 'pino';
import { requestFields } from './current-request.ts';
import { GatewayError } from './errors.ts';
import { LogOutput } from './log-output.ts';

/** The gateway's structured log: pino, so that plugins can make children of it. */
export type GatewayLog = Logger;

/**
 * Makes the process's log: JSON lines on standard output (or another stream).
 * @param level pino's levels; `silent` for none
 */
export function createLog(
  level: string,
  destination: { write(line: string): void } = standardOutput(),
): GatewayLog {
  const children = new Set<WeakRef<GatewayLog>>();
  const gone = new FinalizationRegistry<WeakRef<GatewayLog>>((child) => children.delete(child));
  const options: LoggerOptions = {
    level,
    onChild(child) {
      const kept = new WeakRef(child);
      children.add(kept);
      gone.register(child, kept);
    },
    base: undefined,
    mixin: () => ({ ...requestFields() }),
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
        // The whole address that an error of `new URL` is about, with the password in it.
        ...['err.input', 'err.*.input', 'err.aggregateErrors[*].input'],
      ],
      censor: '***',
    },
  };
  const log = pino(options, destination);
  descendants.set(log, children);
  return log;
}

let output: LogOutput | undefined;

function standardOutput(): LogOutput {
  if (output !== undefined) return output;
  const lines = new LogOutput(process.stdout.fd);
  process.on('exit', () => lines.flushSync());
  output = lines;
  return output;
}

/** The children of a log and theirs: each has a level of its own, which it was made with. */
const descendants = new WeakMap<GatewayLog, ReadonlySet<WeakRef<GatewayLog>>>();

/**
 * Changes the level of a process's log and of all logs made from it.
 * @param log as `createLog` made it
 */
export function setLogLevel(log: GatewayLog, level: string): void {
  log.level = level;
  for (const child of descendants.get(log) ?? []) {
    const alive = child.deref();
    if (alive !== undefined) alive.level = level;
  }
}

/** Errors of a lasting condition, which has log lines of its own, are logged at the level debug only. */
const leaveOutReported: NonNullable<LoggerOptions['hooks']>['logMethod'] = function (
  line,
  method,
  level,
) {
  const [fields]: readonly unknown[] = line;
  const isReported = hasError(fields) && fields.err instanceof GatewayError && fields.err.reported;
  if (isReported && level > debugLevel && level < fatalLevel) this.debug(...line);
  else method.apply(this, line);
};

const debugLevel = pino.levels.values.debug ?? 20;
const fatalLevel = pino.levels.values.fatal ?? 60;

function hasError(fields: unknown): fields is { readonly err: unknown } {
  return typeof fields === 'object' && fields !== null && 'err' in fields;
}

import type { DriverLog } from '../../core/contracts/driver.ts';

/** The log that the library writes to. */
export interface LibraryLog {
  level: string;
  child(facts: Record<string, unknown>): LibraryLog;
  trace(facts: unknown, message?: string): void;
  debug(facts: unknown, message?: string): void;
  info(facts: unknown, message?: string): void;
  warn(facts: unknown, message?: string): void;
  error(facts: unknown, message?: string): void;
}

/** All but the last four digits of a phone number, or of another id as long. */
const hiddenDigits = /\d{3,}(?=\d{4})/g;

/**
 * A log for the library that lets its complaints through, as debug lines without phone numbers, and never the facts
 * beside them: they hold keys, codes and messages.
 */
export function libraryLog(log: DriverLog, accountId: string): LibraryLog {
  const say = (facts: unknown, message?: string): void => {
    const said = typeof facts === 'string' ? facts : message;
    if (said === undefined) return;
    log.debug({ accountId, said: said.slice(0, 200).replaceAll(hiddenDigits, '…') }, 'library');
  };
  const nothing = (): void => undefined;
  const own: LibraryLog = {
    level: 'warn',
    child: () => own,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: say,
    error: say,
  };
  return own;
}

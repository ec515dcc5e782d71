import type { DriverLog } from '../../core/contracts/driver.ts';

/** The log that the library writes to. */
export interface LibraryLog {
  level: string;
  child(fields: Record<string, unknown>): LibraryLog;
  trace(fields: unknown, message?: string): void;
  debug(fields: unknown, message?: string): void;
  info(fields: unknown, message?: string): void;
  warn(fields: unknown, message?: string): void;
  error(fields: unknown, message?: string): void;
}

/** All but the last four digits of a phone number, or of another id as long. */
const hiddenDigits = /\d{3,}(?=\d{4})/g;

/** The complaint about a collection of the phone's settings that is broken: no error of the library says so. */
const givenUp = /^failed to sync (\S+) .*giving up$/;

/**
 * A log for the library that lets its complaints through, as debug lines without phone numbers, and never the fields
 * beside them: they hold keys, codes and messages.
 * @param onGivenUp called with each collection of the phone's settings that the library gives up
 */
export function libraryLog(
  log: DriverLog,
  accountId: string,
  onGivenUp: (collection: string) => void = () => undefined,
): LibraryLog {
  const say = (fields: unknown, message?: string): void => {
    const said = typeof fields === 'string' ? fields : message;
    if (said === undefined) return;
    const [, collection] = givenUp.exec(said) ?? [];
    if (collection !== undefined) onGivenUp(collection);
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

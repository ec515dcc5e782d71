import type { DriverLog } from '../../core/contracts/driver.ts';
import { pacedLog } from '../paced-log.ts';
import type { ThreadCalls } from './calls.ts';

/** A log that the gateway writes: paced in the thread already, so that a flood of lines is none of messages. */
export function threadLog(calls: ThreadCalls, to: string): DriverLog {
  const at =
    (level: keyof DriverLog) =>
    (fields: object, message: string): void =>
      calls.notify(to, 'log', [level, cloneable(fields), message]);
  return pacedLog({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') });
}

/** The fields without what cannot cross, such as functions and sockets. */
function cloneable(fields: object): object {
  const crossing = Object.entries(fields).filter(([, value]) => {
    try {
      structuredClone(value);
      return true;
    } catch {
      return false;
    }
  });
  return Object.fromEntries(crossing);
}

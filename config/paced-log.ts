import type { DriverLog } from '../core/contracts/driver.ts';
import { PacedLines } from '../core/paced-lines.ts';

/** The log as a driver from outside has it: one that writes the same line again and again fills no disk. */
export function pacedLog(log: DriverLog, lines: PacedLines = new PacedLines()): DriverLog {
  const at =
    (level: keyof DriverLog) =>
    (fields: object, message: string): void => {
      const more = lines.take(`${level} ${message}`);
      if (more === null) return;
      // Drivers in JavaScript hand an error over as the fields; spread it would lose its sentence.
      const given = fields instanceof Error ? { err: fields } : fields;
      log[level](more.left_out === undefined ? given : { ...given, ...more }, message);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

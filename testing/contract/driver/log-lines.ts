import { pino } from 'pino';
import type { DriverLog } from '../../../core/contracts/driver.ts';

/** A log that remembers its lines and what must not be in them. */
export class LogLines implements DriverLog {
  readonly lines: string[] = [];
  readonly #forbidden = new Set<string>();

  debug(fields: object, message: string): void {
    this.#add(fields, message);
  }
  info(fields: object, message: string): void {
    this.#add(fields, message);
  }
  warn(fields: object, message: string): void {
    this.#add(fields, message);
  }
  error(fields: object, message: string): void {
    this.#add(fields, message);
  }

  /** A key, a code, a password or a message's text. */
  forbid(secret: string): void {
    this.#forbidden.add(secret);
  }

  /** Lines that hold something forbidden, as it is or escaped as JSON once or twice. */
  offending(): readonly string[] {
    const forms = [...this.#forbidden].flatMap((secret) => {
      const once = escaped(secret);
      return [secret, once, escaped(once)];
    });
    return this.lines.filter((line) => forms.some((form) => line.includes(form)));
  }

  #add(fields: object, message: string): void {
    this.lines.push(`${message} ${written(fields)}`);
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Fields as the gateway's log writes them, and errors under any name: with all their fields. */
function written(fields: object): string {
  const seen = new Set<unknown>();
  return JSON.stringify(fields, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[seen]';
    seen.add(value);
    if (!(value instanceof Error)) return value;
    return { ...pino.stdSerializers.err(value), cause: String(value.cause) };
  });
}

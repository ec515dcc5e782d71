import type { DriverLog } from '../../../core/contracts/driver.ts';

/** A log that remembers its lines and what must not be in them. */
export class LogLines implements DriverLog {
  readonly lines: string[] = [];
  readonly #forbidden = new Set<string>();

  debug(facts: object, message: string): void {
    this.#add(facts, message);
  }
  info(facts: object, message: string): void {
    this.#add(facts, message);
  }
  warn(facts: object, message: string): void {
    this.#add(facts, message);
  }
  error(facts: object, message: string): void {
    this.#add(facts, message);
  }

  /** A key, a code, a password or a message's text. */
  forbid(secret: string): void {
    this.#forbidden.add(secret);
  }

  /** Lines that hold something forbidden. */
  offending(): readonly string[] {
    return this.lines.filter((line) =>
      [...this.#forbidden].some((secret) => line.includes(secret)),
    );
  }

  #add(facts: object, message: string): void {
    const written = JSON.stringify(facts, (_, value) =>
      value instanceof Error ? `${value.message} ${String(value.cause)}` : value,
    );
    this.lines.push(`${message} ${written}`);
  }
}

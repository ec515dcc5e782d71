import type {
  AddressRule,
  Driver,
  DriverAccount,
  IdentifierRule,
  Port,
  Session,
} from '../core/contracts/driver.ts';
import { type DriverFaults, DriverHung } from '../core/contracts/driver-faults.ts';
import { GatewayError } from '../core/errors.ts';
import { PacedLines } from '../core/paced-lines.ts';
import { withTimeout } from '../core/waiting.ts';
import { ContainedSession, type SessionParts } from './contained-session.ts';
import { asDriver, type CodeOwner } from './driver-context.ts';
import { Holds } from './holds.ts';
import { closeMs } from './isolated/driver.ts';
import type { Suspect, Watch } from './stall-watch.ts';

/** How long a call may take before it is said to hang; a driver's `link` and `resume` are then given up. */
const hangMs = 60_000;

/** Dependencies of a contained driver. */
export interface ContainmentParts {
  readonly faults: DriverFaults;
  readonly watch: Watch;
  /** The sentence that the owner of an account reads while it is held back. */
  readonly heldBack: string;
  /** Tests shorten it. */
  readonly hangMs?: number;
  /** Milliseconds since the Unix epoch; tests bring their own. */
  readonly now?: () => number;
}

/**
 * A driver from outside, contained: its throws, rejections and hanging calls count as its own, and reach only the
 * account they concern. An account whose code blocks the event loop repeatedly is held back.
 */
export class ContainedDriver implements Driver {
  readonly capabilities: Driver['capabilities'];
  readonly identifier?: IdentifierRule;
  readonly address?: AddressRule;
  readonly credentialsOf?: NonNullable<Driver['credentialsOf']>;
  readonly #driver: Driver;
  readonly #owner: CodeOwner;
  readonly #parts: SessionParts;

  constructor(channel: string, driver: Driver, parts: ContainmentParts) {
    this.#owner = { channel, accountId: null };
    this.#driver = driver;
    this.#parts = { hangMs, ...parts, holds: new Holds(parts.now), lines: new PacedLines() };
    this.capabilities = driver.capabilities;
    const { address, credentialsOf, identifier } = driver;
    if (identifier !== undefined) this.identifier = this.#contained(identifier);
    if (address !== undefined) this.address = this.#contained(address);
    if (credentialsOf !== undefined) {
      this.credentialsOf = (...of) => this.#names(async () => driver.credentialsOf?.(...of));
    }
  }

  open(account: DriverAccount, port: Port): Session {
    const owner = { channel: this.#owner.channel, accountId: account.id };
    const open = (given: Port): unknown => this.#driver.open(account, given);
    return new ContainedSession(owner, open, port, this.#parts);
  }

  /** Never rejects, and does not wait for ever. */
  async close(): Promise<void> {
    const { faults } = this.#parts;
    const closing = asDriver(this.#owner, async () => this.#driver.close?.());
    const late = new DriverHung('close');
    await withTimeout(closeMs, late, closing).catch((error: unknown) => {
      const fault =
        error === late ? ({ kind: 'hung' } as const) : ({ kind: 'threw', error } as const);
      faults.report({ ...this.#owner, ...fault, call: 'close' });
    });
  }

  /** @throws whatever the driver has thrown, and TypeError when it answers no names */
  async #names(ask: () => Promise<unknown>): Promise<readonly string[]> {
    try {
      const names = await asDriver(this.#owner, ask);
      if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
      throw new TypeError('credentialsOf answered no list of names');
    } catch (error) {
      const fault = { kind: 'threw', call: 'credentialsOf', error } as const;
      this.#parts.faults.report({ ...this.#owner, ...fault });
      throw error;
    }
  }

  /** A rule that throws, or answers what is no text, refuses the request as the driver's fault. */
  #contained(rule: IdentifierRule | AddressRule): IdentifierRule & AddressRule {
    const owner = this.#owner;
    const { faults, watch } = this.#parts;
    // No account is held back for it.
    const suspect: Suspect = { owner, stalled: () => undefined };
    return {
      description: rule.description,
      parse: (text) => {
        let parsed: unknown;
        try {
          parsed = watch.call(suspect, 'parse', () => asDriver(owner, () => rule.parse(text)));
        } catch (error) {
          faults.report({ ...owner, kind: 'threw', call: 'parse', error });
          throw new GatewayError('driver_failed', { cause: error });
        }
        if (typeof parsed === 'string' || parsed === null) return parsed;
        const error = new TypeError('parse answered neither a text nor null');
        faults.report({ ...owner, kind: 'nonsense', call: 'parse', error });
        throw new GatewayError('driver_failed', { cause: error });
      },
    };
  }
}

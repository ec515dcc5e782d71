import type { DriverAccount, LinkRequest } from '../../../core/contracts/driver.ts';
import type { Opened } from './bench.ts';
import type { LogLines } from './log-lines.ts';
import { isWord } from './steps.ts';
import type { DriverWorld } from './world.ts';

/** Stored values that are shorter are settings, as `true`: they stand in many a line by chance. */
const shortestSecret = 8;

/** The owner of accounts, who links them. What the owner reads and gives must be in no line of the log. */
export class Owner {
  readonly #world: DriverWorld;
  readonly #log: LogLines;

  constructor(world: DriverWorld, log: LogLines) {
    this.#world = world;
    this.#log = log;
  }

  /** Does what the steps of a linking ask for; resolves when connected. */
  async link({ account, port, session }: Opened, request: LinkRequest): Promise<void> {
    await session.link(request);
    let isScanned = false;
    for (;;) {
      const word = await port.next('step or state connected', isWord);
      if (word.type === 'state') break;
      const { step } = word;
      if (step.type === 'ask') {
        await session.answer(step.field, await this.value(account, step.field));
      } else if (step.type !== 'expired' && !isScanned) {
        isScanned = true;
        this.#log.forbid(step.type === 'show_qr' ? step.data : step.code);
        await this.#world.scan(account, step);
      }
    }
    for (const value of port.credentials.written) {
      if (value.length >= shortestSecret) this.#log.forbid(value);
    }
  }

  /** What the owner answers when the network asks for it. */
  async value(account: DriverAccount, field: string): Promise<string> {
    const world = this.#world;
    const asked = {
      code: () => world.loginCode(account),
      password: () => world.password(account),
    }[field];
    const value = await (asked?.() ?? world.answer?.(account, field));
    if (value === undefined) throw new Error(`the world has no answer to ${field}`);
    this.#log.forbid(value);
    return value;
  }
}

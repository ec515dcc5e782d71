import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type {
  Driver,
  DriverAccount,
  DriverCapabilities,
  LinkMethod,
  OutboundMessage,
  Session,
} from '../../../core/contracts/driver.ts';
import { refuseNoSession } from '../../../core/driver-values.ts';
import { withTimeout } from '../../../core/waiting.ts';
import { checkedSession } from './checked-session.ts';
import type { LogLines } from './log-lines.ts';
import { Owner } from './owner.ts';
import { MemoryCredentials, MemoryPort } from './port.ts';
import { restored } from './restored-world.ts';
import type { DriverWorld } from './world.ts';

/** False, or why a clause makes no sense for a driver: what it declares. */
export type Skip = false | string;

/** How often the suite waits for something in one clause at most, so that a clause that hangs has an end. */
const clausePatience = 5;

/** A session with everything around it. */
export interface Opened {
  readonly account: DriverAccount;
  readonly port: MemoryPort;
  readonly session: Session;
}

/** What is imported with a link. */
export interface AskedImports {
  readonly importContacts: boolean;
  readonly importHistory: boolean;
}

const nothing: AskedImports = { importContacts: false, importHistory: false };

/** The most contacts to which the suite sends at once. */
const mostContacts = 8;

/** How long the suite lets pass before it says that something did not happen, in milliseconds. */
const quietMs = 200;

/** What the tests of the suite share: one driver, its world, its log. */
export class Bench {
  readonly world: DriverWorld;
  readonly log: LogLines;
  readonly #patienceMs: number;
  readonly #remake: (() => Promise<Driver>) | null;
  #driver: Driver;
  readonly #restore: () => Promise<void>;
  readonly #owner: Owner;
  readonly #opened: Session[] = [];
  readonly #ports: MemoryPort[] = [];

  /** @param remake makes the driver anew, as another process does; null: a restart keeps it */
  constructor(
    driver: Driver,
    world: DriverWorld,
    log: LogLines,
    patienceMs = 15_000,
    remake: (() => Promise<Driver>) | null = null,
  ) {
    this.#driver = driver;
    this.#remake = remake;
    const { world: observed, restore } = restored(world);
    this.world = observed;
    this.#restore = restore;
    this.log = log;
    this.#owner = new Owner(observed, log);
    this.#patienceMs = patienceMs;
  }

  /** The present one: a restart makes it anew. */
  get driver(): Driver {
    return this.#driver;
  }

  /** Why what needs a link on the network's side is skipped. */
  get noRemoteLink(): Skip {
    return this.capabilities.remoteLink === false ? 'remoteLink is false' : false;
  }

  /** Why what the network has to keep meanwhile is skipped. */
  get nothingKept(): Skip {
    return this.capabilities.offlineMessages === false ? 'offlineMessages is false' : false;
  }

  get noRestrictions(): Skip {
    return this.capabilities.restrictions === false ? 'restrictions is false' : false;
  }

  /**
   * Runs one clause. Whatever becomes of it, its sessions are closed and the world is as before; one that does not end is
   * given up. It also fails by what the gateway would have refused, which a driver may not notice.
   * @param skip the declared capability for which it makes no sense
   */
  async clause(t: Test, title: string, skip: Skip, run: (t: Test) => Promise<void>): Promise<void> {
    await t.test(title, { skip }, async (t) => {
      const late = new Error('this clause did not come to its end');
      try {
        await withTimeout(clausePatience * this.#patienceMs, late, run(t));
      } finally {
        this.closeAll();
        const nonsense = this.#ports.splice(0).flatMap((port) => port.nonsense);
        t.same(nonsense, [], 'all that the driver said is of the contract');
        await this.#restore();
      }
    });
  }

  /** Resolves once it is so. @throws Error when that takes longer than the suite waits */
  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + this.#patienceMs;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(`${what}: that did not come`);
      await sleep(20);
    }
  }

  get capabilities(): DriverCapabilities {
    return this.driver.capabilities;
  }

  /** The way the other tests link; one that needs no second factor. */
  get usualMethod(): LinkMethod {
    const { linkMethods } = this.capabilities;
    const known = ['qr', 'pairing_code', 'code', 'password'];
    return known.find((method) => linkMethods.includes(method)) ?? linkMethods[0];
  }

  /** A session of a new account, or of a given one. @throws TypeError as the gateway does, when it is none */
  async open(account?: DriverAccount, credentials?: MemoryCredentials): Promise<Opened> {
    const owner = account ?? (await this.world.account());
    const port = new MemoryPort(this.log, credentials, this.#patienceMs);
    const session = checkedSession(refuseNoSession(this.driver.open(owner, port)), port);
    this.#opened.push(session);
    this.#ports.push(port);
    return { account: owner, port, session };
  }

  /** A session of a new account that is linked and connected. */
  async linked(account?: DriverAccount, imports: AskedImports = nothing): Promise<Opened> {
    const opened = await this.open(account);
    await this.link(opened, this.usualMethod, imports);
    return opened;
  }

  /** Links, as the owner does what the steps ask for; resolves when connected. */
  link(opened: Opened, method: LinkMethod, imports: AskedImports = nothing): Promise<void> {
    return this.#owner.link(opened, { method, ...imports });
  }

  /** What the owner answers when the network asks for it. */
  value(account: DriverAccount, field: string): Promise<string> {
    return this.#owner.value(account, field);
  }

  /** A session with the same credentials of a driver made anew, as in another process: not resumed yet. */
  async restarted(before: Opened): Promise<Opened> {
    this.closeAll();
    if (this.#remake !== null) {
      await this.driver.close?.();
      this.#driver = await this.#remake();
    }
    return await this.reopened(before);
  }

  /** Another session with the same credentials, as after a restart: not resumed yet. */
  async reopened({ account, port, session }: Opened): Promise<Opened> {
    session.close();
    return await this.open(account, new MemoryCredentials(port.credentials.values));
  }

  /** The same, resumed and connected. */
  async resumed(before: Opened): Promise<Opened> {
    const opened = await this.reopened(before);
    await opened.session.resume();
    await opened.port.state('connected');
    return opened;
  }

  /** A message to a contact of the account. */
  async message(account: DriverAccount, reference: string, attempt = 1): Promise<OutboundMessage> {
    const text = `text of ${reference}`;
    this.log.forbid(text);
    const to = await this.world.contact(account, 1);
    return { reference, attempt, to, text, media: null };
  }

  /** One message to each of as many contacts as sends may be under way to at once. */
  async messages(account: DriverAccount, name: string): Promise<readonly OutboundMessage[]> {
    const all: OutboundMessage[] = [];
    for (let number = 1; number <= this.width; number += 1) {
      const message = await this.message(account, `msg_${name}_${number}`);
      all.push({ ...message, to: await this.world.contact(account, number) });
    }
    return all;
  }

  /** To how many contacts the suite sends at once. */
  get width(): number {
    return Math.min(mostContacts, this.capabilities.window ?? 1);
  }

  /** Lets pass what time it takes to be sure that nothing happens. */
  async quiet(): Promise<void> {
    await sleep(quietMs);
  }

  /** Lets pass what time it takes until the driver has nothing left to say or to store; a chatty one has two seconds. */
  async settled({ port }: Opened): Promise<void> {
    const said = () => this.world.traffic().bytes + port.credentials.written.length;
    for (let tries = 0, before = -1; tries < 10 && before !== said(); tries += 1) {
      before = said();
      await this.quiet();
    }
  }

  /** Closes whatever a test left open. */
  closeAll(): void {
    for (const session of this.#opened.splice(0)) session.close();
  }
}

/** A signal that nobody aborts. */
export function patient(): AbortSignal {
  return new AbortController().signal;
}

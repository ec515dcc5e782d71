import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Driver,
  DriverAccount,
  DriverCapabilities,
  DriverLog,
  LinkMethod,
  OutboundMessage,
  Session,
} from '../../../core/contracts/driver.ts';
import { MemoryCredentials, MemoryPort } from './port.ts';
import type { DriverWorld } from './world.ts';

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

/** How long the suite lets pass before it says that something did not happen, in milliseconds. */
const quietMs = 200;

/** What the tests of the suite share: one driver, its world, its log. */
export class Bench {
  readonly driver: Driver;
  readonly world: DriverWorld;
  readonly log: LogLines;
  readonly #opened: Session[] = [];

  constructor(driver: Driver, world: DriverWorld, log: LogLines) {
    this.driver = driver;
    this.world = world;
    this.log = log;
  }

  get capabilities(): DriverCapabilities {
    return this.driver.capabilities;
  }

  /** The way the other tests link; one that needs no second factor. */
  get usualMethod(): LinkMethod {
    const usual = ['qr', 'pairing_code', 'code', 'password'].find((method) =>
      this.capabilities.linkMethods.includes(method),
    );
    if (usual === undefined) throw new Error('the suite knows no link method of this driver');
    return usual;
  }

  /** A session of a new account, or of a given one. */
  async open(account?: DriverAccount, credentials?: MemoryCredentials): Promise<Opened> {
    const owner = account ?? (await this.world.account());
    const port = new MemoryPort(this.log, credentials);
    const session = this.driver.open(owner, port);
    this.#opened.push(session);
    return { account: owner, port, session };
  }

  /** A session of a new account that is linked and connected. */
  async linked(account?: DriverAccount, imports: AskedImports = nothing): Promise<Opened> {
    const opened = await this.open(account);
    await this.link(opened, this.usualMethod, imports);
    return opened;
  }

  /** Links by one of the known methods; resolves when connected. */
  async link(
    { account, port, session }: Opened,
    method: LinkMethod,
    imports: AskedImports = nothing,
  ): Promise<void> {
    await session.link({ method, ...imports });
    const field = (['code', 'password'] as const).find((one) => one === method);
    if (field !== undefined) {
      await port.next(`question for the ${field}`, isAskFor(field));
      await session.answer(field, await this.value(account, field));
    } else {
      const step = await port.step(method === 'qr' ? 'show_qr' : 'show_code');
      this.log.forbid(step.type === 'show_qr' ? step.data : step.code);
      await this.world.scan(account, step);
    }
    await port.state('connected');
    for (const value of port.credentials.written) this.log.forbid(value);
  }

  /** What the owner answers when the network asks for it. */
  async value(account: DriverAccount, field: 'code' | 'password'): Promise<string> {
    const { world } = this;
    const value = await (field === 'code' ? world.loginCode(account) : world.password(account));
    this.log.forbid(value);
    return value;
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

  /** Lets pass what time it takes to be sure that nothing happens. */
  async quiet(): Promise<void> {
    await sleep(quietMs);
  }

  /** Closes whatever a test left open. */
  closeAll(): void {
    for (const session of this.#opened) session.close();
  }
}

/** A signal that nobody aborts. */
export function patient(): AbortSignal {
  return new AbortController().signal;
}

/** Whether an event asks for this value. */
export function isAskFor(field: 'code' | 'password') {
  return (event: { readonly type: string }): event is AskEvent =>
    event.type === 'step' &&
    'step' in event &&
    JSON.stringify(event.step) === JSON.stringify({ type: 'ask', field });
}

interface AskEvent {
  readonly type: 'step';
  readonly step: { readonly type: 'ask'; readonly field: 'code' | 'password' };
}

/** A log that remembers its lines and what must not stand in them. */
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
    const told = JSON.stringify(facts, (_, value) =>
      value instanceof Error ? `${value.message} ${String(value.cause)}` : value,
    );
    this.lines.push(`${message} ${told}`);
  }
}

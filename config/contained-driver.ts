import type {
  Driver,
  DriverAccount,
  IdentifierRule,
  Port,
  Session,
} from '../core/contracts/driver.ts';
import type { DriverFaults } from '../core/contracts/driver-faults.ts';
import { asDriver, asGateway, type DriverPlace } from '../core/driver-context.ts';
import { GatewayError } from '../core/errors.ts';
import { PacedLines } from '../core/paced-lines.ts';
import { pacedLog } from './paced-log.ts';

/** How long a call may take before it is said to hang; a driver's `link` and `resume` are then given up. */
const hangMs = 60_000;

/** How long a driver may take to free what it holds when the gateway stops. */
const closeMs = 2_000;

/** What a containment reports to. */
export interface ContainmentParts {
  readonly faults: DriverFaults;
  /** Tests shorten it. */
  readonly hangMs?: number;
}

/**
 * A driver from outside with the gateway's containment round it: whatever it throws, leaves rejected or never answers
 * is known as its own, and reaches nobody but the account that it concerns.
 */
export class ContainedDriver implements Driver {
  readonly capabilities: Driver['capabilities'];
  readonly identifier?: IdentifierRule;
  readonly #driver: Driver;
  readonly #channel: string;
  readonly #parts: Required<ContainmentParts>;
  /** Shared by its accounts. */
  readonly #lines = new PacedLines();

  constructor(channel: string, driver: Driver, parts: ContainmentParts) {
    this.#channel = channel;
    this.#driver = driver;
    this.#parts = { hangMs, ...parts };
    this.capabilities = driver.capabilities;
    const { identifier } = driver;
    if (identifier !== undefined) this.identifier = this.#contained(identifier);
  }

  open(account: DriverAccount, port: Port): Session {
    const place = { channel: this.#channel, accountId: account.id };
    const open = (): unknown => this.#driver.open(account, gatewayPort(port, this.#lines));
    const session = asDriver(place, open);
    if (!isSession(session)) throw new TypeError('the driver opened what is no session');
    return new ContainedSession(session, place, this.#parts);
  }

  /** Never rejects, and does not wait for ever. */
  async close(): Promise<void> {
    const place = { channel: this.#channel, accountId: null };
    const { faults } = this.#parts;
    const closing = asDriver(place, async () => this.#driver.close?.());
    const closed = closing.catch((error: unknown) =>
      faults.report({ ...place, kind: 'threw', call: 'close', error }),
    );
    await within(closeMs, closed, () => {
      faults.report({ ...place, kind: 'hung', call: 'close' });
      throw new Error('close did not come back');
    }).catch(() => undefined);
  }

  /** A rule that throws, or answers what is no identifier, refuses the request as the driver's fault. */
  #contained(rule: IdentifierRule): IdentifierRule {
    const place = { channel: this.#channel, accountId: null };
    return {
      description: rule.description,
      parse: (text) => {
        const { faults } = this.#parts;
        let parsed: unknown;
        try {
          parsed = asDriver(place, () => rule.parse(text));
        } catch (error) {
          faults.report({ ...place, kind: 'threw', call: 'parse', error });
          throw new GatewayError('driver_failed', { cause: error });
        }
        if (typeof parsed === 'string' || parsed === null) return parsed;
        const error = new TypeError('parse answered neither a text nor null');
        faults.report({ ...place, kind: 'nonsense', call: 'parse', error });
        throw new GatewayError('driver_failed', { cause: error });
      },
    };
  }
}

/** One session of such a driver. What its calls throw goes on to the session's runner, which reports it. */
class ContainedSession implements Session {
  readonly #session: Session;
  readonly #place: DriverPlace;
  readonly #parts: Required<ContainmentParts>;

  constructor(session: Session, place: DriverPlace, parts: Required<ContainmentParts>) {
    this.#session = session;
    this.#place = place;
    this.#parts = parts;
  }

  link: Session['link'] = (request) =>
    this.#call('link', () => this.#session.link(request), 'give_up');

  resume: Session['resume'] = () => this.#call('resume', () => this.#session.resume(), 'give_up');

  answer: Session['answer'] = (field, value) =>
    this.#call('answer', () => this.#session.answer(field, value), 'wait');

  /** Waits for as long as it takes: what became of the message only the driver can say. */
  send: Session['send'] = (message, signal) =>
    this.#call('send', () => this.#session.send(message, signal), 'wait');

  logOut: Session['logOut'] = () => this.#call('logOut', () => this.#session.logOut(), 'wait');

  close(): void {
    asDriver(this.#place, () => this.#session.close());
  }

  #call<Result>(
    name: string,
    call: () => Promise<Result>,
    whenLate: 'give_up' | 'wait',
  ): Promise<Result> {
    // Inside a promise, so that a driver that throws at once rejects like any other.
    const calling = asDriver(this.#place, async () => await call());
    return within(this.#parts.hangMs, calling, () => {
      this.#parts.faults.report({ ...this.#place, kind: 'hung', call: name });
      if (whenLate === 'give_up') throw new Error(`${name} did not come back`);
    });
  }
}

/** The port as the driver holds it: what it calls is the gateway's own code again. */
function gatewayPort(port: Port, lines: PacedLines): Port {
  const { credentials } = port;
  return {
    emit: (event) => asGateway(() => port.emit(event)),
    credentials: {
      get: (names) => asGateway(() => credentials.get(names)),
      set: (values) => asGateway(() => credentials.set(values)),
      clear: () => asGateway(() => credentials.clear()),
    },
    sentMessage: (reference) => asGateway(() => port.sentMessage(reference)),
    fetchMedia: (media, signal) => asGateway(() => port.fetchMedia(media, signal)),
    leftOut: (kind) => asGateway(() => port.leftOut(kind)),
    log: pacedLog(port.log, lines),
  };
}

const sessionMembers = ['link', 'answer', 'resume', 'send', 'logOut', 'close'] as const;

function isSession(value: unknown): value is Session {
  if (typeof value !== 'object' || value === null) return false;
  const session: { [Name in keyof Session]?: unknown } = value;
  return sessionMembers.every((name) => typeof session[name] === 'function');
}

/**
 * Settles as the work does.
 * @param late called once when the work takes longer; what it throws ends the waiting
 */
function within<Result>(ms: number, work: Promise<Result>, late: () => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        late();
      } catch (error) {
        reject(error);
      }
    }, ms);
    timer.unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

import { randomUUID } from 'node:crypto';
import {
  type CredentialStore,
  type Driver,
  type DriverContact,
  DriverError,
  type DriverEvent,
  type Port,
  type Session,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import type { DriverWorld } from '../../testing/contract/driver.ts';

/** What is wrong about a driver of the simulated network. */
interface Wrong {
  /** The channel that it plays; `chatapp`, without a history, when absent. */
  readonly channel?: string;
  /** Spoils the driver, each time that one is made. */
  readonly spoil: (driver: Driver) => Driver;
  /** What is different about the network. */
  readonly world?: (world: DriverWorld) => Partial<DriverWorld>;
}

/** A contact whose values only the prototype has. */
class Writer implements DriverContact {
  readonly #contact: DriverContact;

  constructor(contact: DriverContact) {
    this.#contact = contact;
  }

  get phone() {
    return this.#contact.phone;
  }

  get networkId() {
    return this.#contact.networkId;
  }

  get name() {
    return this.#contact.name;
  }
}

/** Drivers that are wrong on purpose, by their fault. */
export const wrongDrivers: Readonly<Record<string, Wrong>> = {
  'counts the messages of each session': {
    spoil: (driver) =>
      through(
        { ...driver, capabilities: { ...driver.capabilities, offlineMessages: false } },
        counting,
      ),
    world: (world) => ({
      async write(account, message) {
        await world.write(account, message);
        return null;
      },
    }),
  },
  'makes references of its own in each process': { spoil: renaming },
  'forgets a restriction when it restarts': { spoil: (driver) => through(driver, forgetful) },
  'says of every log-out that it was one': { spoil: (driver) => saying(driver, 'unlinked') },
  'says of every log-out that it was none': { spoil: (driver) => saying(driver, 'still_linked') },
  'dates messages by parts of milliseconds': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message' ? { ...event, at: event.at + 0.5 } : event,
      ),
  },
  'gives who writes no name': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message' ? { ...event, from: { ...event.from, name: undefined } } : event,
      ),
  },
  'names nobody who writes': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message'
          ? { ...event, from: { ...event.from, phone: null, networkId: null } }
          : event,
      ),
  },
  'gives messages an empty id': {
    spoil: (driver) =>
      emitting(driver, (event) => (event.type === 'message' ? { ...event, networkId: '' } : event)),
  },
  'gives all who write one id': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message' ? { ...event, from: { ...event.from, networkId: 'u1' } } : event,
      ),
    world: (world) => ({
      async contact(account, number) {
        const { phone } = await world.contact(account, number);
        return { phone, networkId: `u${phone?.slice(1)}` };
      },
    }),
  },
  'names who writes by getters': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message' ? { ...event, from: new Writer(event.from) } : event,
      ),
  },
  'stores under names that are too long': { spoil: (driver) => through(driver, wordy) },
  'keeps what it has stored when it is linked again': {
    spoil: (driver) => through(driver, (real) => storing(real, { clear: () => Promise.resolve() })),
  },
  'writes back what it has discarded': { spoil: (driver) => through(driver, writingBack) },
  'lets an answer fail as its store does': { spoil: storingAnswers },
  'fetches files without a signal': {
    spoil: (driver) =>
      through(driver, (real) =>
        having(real, { fetchMedia: (media) => Reflect.apply(real.fetchMedia, real, [media]) }),
      ),
  },
  'says of no file where it is': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'message' && event.media !== null
          ? { ...event, media: { ...event.media, url: null } }
          : event,
      ),
  },
  'leaves out when to connect again': {
    spoil: (driver) =>
      emitting(driver, (event) =>
        'state' in event && event.state === 'lost' ? { ...event, retryAt: undefined } : event,
      ),
  },
  'adds events of its own': { spoil: (driver) => through(driver, adding) },
  'opens sessions that cannot be logged out': {
    spoil: (driver) => ({
      ...changed(driver, () => ({ logOut: undefined })),
      capabilities: { ...driver.capabilities, remoteLink: false },
    }),
  },
  'acknowledges messages up to the last that was kept': {
    spoil: (driver) => through(driver, (real) => cumulative(real, 'message')),
  },
  'acknowledges receipts up to the last that was kept': {
    spoil: (driver) => through(driver, (real) => cumulative(real, 'receipt')),
  },
  'calls not sent what broke off': { spoil: (driver) => denying(driver, 'broken') },
  'calls not sent what it was closed with': { spoil: (driver) => denying(driver, 'closed') },
  'asks to try sends again later that a restriction refuses': {
    spoil: (driver) =>
      changed(driver, (session) => ({
        async send(message, signal) {
          try {
            return await session.send(message, signal);
          } catch (error) {
            const isRestricted = error instanceof DriverError && error.code.startsWith('blocked');
            if (!isRestricted) throw error;
            const { code, message: text, certain } = error;
            throw new DriverError(code, text, { certain, retryAfterMs: 60_000 });
          }
        },
      })),
  },
  'dates sends by parts of milliseconds': {
    spoil: (driver) =>
      changed(driver, (session) => ({
        async send(message, signal) {
          const sent = await session.send(message, signal);
          return { ...sent, at: sent.at + 0.5 };
        },
      })),
  },
};

/** Drivers that are right, though unlike the others: the suite finds nothing in these parts. */
export const unusualDrivers: Readonly<Record<string, Wrong & { readonly parts: string }>> = {
  'says something while it begins to link': {
    parts: 'closing',
    spoil: (driver) => ({
      ...driver,
      open(account, port) {
        const session = driver.open(account, port);
        const link: Session['link'] = (request) => {
          emitTo(port, { type: 'step', step: { type: 'expired' } });
          return session.link(request);
        };
        return changed({ ...driver, open: () => session }, () => ({ link })).open(account, port);
      },
    }),
  },
  'stores something that is the same in every link': {
    parts: 'linking',
    spoil: (driver) => through(driver, marking),
  },
  'has a network that keeps messages without ids': {
    parts: 'closing|receiving',
    spoil: (driver) => driver,
    world: (world) => ({
      async write(account, message) {
        await world.write(account, message);
        return null;
      },
    }),
  },
  'hands over the past before its contacts': {
    parts: 'receiving',
    channel: 'msgapp_web',
    spoil: (driver) => through(driver, historyFirst),
  },
  'does not say why a message has failed': {
    parts: 'sending',
    spoil: (driver) =>
      emitting(driver, (event) =>
        event.type === 'receipt' && event.status === 'failed' ? { ...event, error: null } : event,
      ),
  },
  'has a network that takes every address': {
    parts: 'window',
    spoil: taking,
    world: () => ({ nobody: undefined }),
  },
};

/** A driver whose sends to nobody are taken. */
function taking(driver: Driver): Driver {
  return changed(driver, (session) => ({
    async send(message, signal) {
      if (message.to.networkId !== 'nobody') return await session.send(message, signal);
      return { networkId: 'taken', at: Date.now() };
    },
  }));
}

/** A driver that is linked by codes alone, and stores that one was handed in before it asks the network. */
function storingAnswers(driver: Driver): Driver {
  const open: Driver['open'] = (account, port) => {
    const session = driver.open(account, port);
    const answer: Session['answer'] = async (field, value) => {
      await port.credentials.set({ answered: 'yes' });
      return await session.answer(field, value);
    };
    return changed({ ...driver, open: () => session }, () => ({ answer })).open(account, port);
  };
  return { ...driver, capabilities: { ...driver.capabilities, linkMethods: ['code'] }, open };
}

/** A driver whose sessions see another port. */
function through(driver: Driver, port: (real: Port) => Port): Driver {
  return { ...driver, open: (account, real) => driver.open(account, port(real)) };
}

/** A driver whose events are others, or no events at all. */
function emitting(driver: Driver, change: (event: DriverEvent) => object): Driver {
  return through(driver, (real) => changing(real, change));
}

/** A port whose events are changed on their way, or get lost where there is none any more. */
function changing(real: Port, change: (event: DriverEvent) => object | null): Port {
  const emit = async (event: DriverEvent): Promise<void> => {
    const changed = change(event);
    if (changed !== null) await emitTo(real, changed);
  };
  return having(real, { emit });
}

/** A port some of whose members are others. */
function having(real: Port, other: Partial<Port>): Port {
  return new Proxy(real, {
    get(_, name) {
      const value: unknown = Reflect.get(Object.hasOwn(other, name) ? other : real, name);
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

/** A port that is given more than the contract knows, by a driver that does not notice. */
function adding(real: Port): Port {
  return changing(real, (event) => {
    emitTo(real, { type: 'mood' }).catch(() => undefined);
    return event;
  });
}

/** Emits what may be no event: types do not bind a driver at run time. */
async function emitTo(port: Port, event: object): Promise<void> {
  await port.emit(event as DriverEvent);
}

/** A port whose credentials get one more with the first, by a driver that does not mind whether it is stored. */
function wordy(real: Port): Port {
  return storing(real, {
    async set(values) {
      await real.credentials.set(values);
      await real.credentials.set({ ['n'.repeat(191)]: 'long' }).catch(() => undefined);
    },
  });
}

/** A port one of whose credentials is there, and the same, from the beginning of every link. */
function marking(real: Port): Port {
  return storing(real, {
    async clear() {
      await real.credentials.clear();
      await real.credentials.set({ begun: 'yes' });
    },
  });
}

/** A port that stores again what it has just discarded. */
function writingBack(real: Port): Port {
  return storing(real, {
    async clear() {
      const stored = await real.credentials.get(['token']);
      await real.credentials.clear();
      await real.credentials.set(stored);
    },
  });
}

/** A port whose credentials are stored in another way. */
function storing(real: Port, other: Partial<CredentialStore>): Port {
  const { credentials } = real;
  const usual: CredentialStore = {
    get: (names) => credentials.get(names),
    set: (values) => credentials.set(values),
    clear: () => credentials.clear(),
  };
  return having(real, { credentials: { ...usual, ...other } });
}

/** A port on which what was refused counts as kept, once a later event of this type was. */
function cumulative(real: Port, type: DriverEvent['type']): Port {
  const refused: (() => void)[] = [];
  const emit = async (event: DriverEvent): Promise<void> => {
    try {
      await real.emit(event);
    } catch (error) {
      if (event.type !== type) throw error;
      return await new Promise((resolve) => refused.push(resolve));
    }
    if (event.type === type) for (const acknowledge of refused.splice(0)) acknowledge();
  };
  return having(real, { emit });
}

/** A port that gets contacts only behind the history. */
function historyFirst(real: Port): Port {
  let held: DriverEvent | null = null;
  const emit = async (event: DriverEvent): Promise<void> => {
    if (event.type === 'contacts') {
      held = event;
      return;
    }
    await real.emit(event);
    if (event.type === 'history' && held !== null) await real.emit(held);
  };
  return having(real, { emit });
}

function counting(real: Port): Port {
  let count = 0;
  return changing(real, (event) => {
    if (event.type !== 'message') return event;
    count += 1;
    return { ...event, networkId: String(count) };
  });
}

/** A port that hears of the end of a restriction only in the session that was linked. */
function forgetful(real: Port): Port {
  let wasLinked = false;
  return changing(real, (event) => {
    wasLinked ||= event.type === 'step';
    const isEnd = event.type === 'state' && event.state === 'unrestricted';
    return isEnd && !wasLinked ? null : event;
  });
}

/** A driver whose network drops repeats of the same process only. */
function renaming(driver: Driver): Driver {
  const own = randomUUID();
  return changed(driver, (session) => ({
    send: (message, signal) =>
      session.send({ ...message, reference: `${message.reference} ${own}` }, signal),
  }));
}

/** A driver whose log-outs end with the same answer, whatever came of them. */
function saying(driver: Driver, outcome: Awaited<ReturnType<Session['logOut']>>): Driver {
  return changed(driver, (session) => ({
    async logOut() {
      await session.logOut();
      return outcome;
    },
  }));
}

/** A driver without repeats that says of what was under way at such an end that it surely was not sent. */
function denying(driver: Driver, end: 'broken' | 'closed'): Driver {
  const capabilities = { ...driver.capabilities, deduplicates: false };
  return changed({ ...driver, capabilities }, (session) => {
    let isClosed = false;
    return {
      close() {
        isClosed = true;
        session.close();
      },
      async send(message, signal) {
        try {
          return await session.send(message, signal);
        } catch (error) {
          const isDoubtful = error instanceof DriverError && !error.certain && !signal.aborted;
          throw isDoubtful && isClosed === (end === 'closed') ? notConnected(error) : error;
        }
      },
    };
  });
}

/** Methods in place of a session's own; undefined: it lacks that one. */
type Changes = { readonly [Name in keyof Session]?: Session[Name] | undefined };

/** A driver whose sessions have some other methods. */
function changed(driver: Driver, change: (session: Session) => Changes): Driver {
  return {
    ...driver,
    open(account, port) {
      const session = driver.open(account, port);
      const other = change(session);
      return new Proxy(session, {
        get(_, name) {
          const value: unknown = Reflect.get(Object.hasOwn(other, name) ? other : session, name);
          return typeof value === 'function' ? value.bind(session) : value;
        },
      });
    },
  };
}

import type {
  AnswerOutcome,
  Driver,
  DriverAccount,
  DriverCapabilities,
  DriverEvent,
  IdentifierRule,
  LinkRequest,
  OutboundMessage,
  Port,
  Sent,
  Session,
} from '../../../core/contracts/driver.ts';

/** What a fake session does when it is called; a test may change it at any time. */
export interface Behaviour {
  open(): void;
  link(session: FakeSession, request: LinkRequest): void | Promise<void>;
  resume(session: FakeSession): void | Promise<void>;
  answer(session: FakeSession, field: string, value: string): Promise<'accepted' | 'wrong'>;
  send(session: FakeSession, message: OutboundMessage, signal: AbortSignal): Promise<Sent>;
  logOut(session: FakeSession): void | Promise<void>;
  loggedOut: Awaited<ReturnType<Session['logOut']>>;
}

/** One session of the fake driver: what was asked of it, and the port to answer through. */
export class FakeSession implements Session {
  readonly account: DriverAccount;
  readonly port: Port;
  readonly calls: string[] = [];
  closed = false;
  readonly #behaviour: Behaviour;

  constructor(account: DriverAccount, port: Port, behaviour: Behaviour) {
    this.account = account;
    this.port = port;
    this.#behaviour = behaviour;
  }

  emit(event: DriverEvent): Promise<void> {
    return this.port.emit(event);
  }

  /** Emits a state and waits until it is durable. */
  state(
    state: 'connected' | 'unrestricted' | 'lost' | 'refused' | 'logged_out' | 'replaced',
  ): Promise<void> {
    const detail = 'As the test wants.';
    if (state === 'lost') {
      return this.emit({
        type: 'state',
        state,
        reason: 'network_unreachable',
        detail,
        retryAt: null,
      });
    }
    if (state === 'refused') {
      return this.emit({ type: 'state', state, reason: 'login_refused', detail, retryAt: null });
    }
    if (state === 'logged_out' || state === 'replaced') {
      return this.emit({ type: 'state', state: 'logged_out', reason: state, detail });
    }
    return this.emit({ type: 'state', state });
  }

  async link(request: LinkRequest): Promise<void> {
    this.calls.push(`link ${request.method}`);
    await this.#behaviour.link(this, request);
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    this.calls.push(`answer ${field}`);
    const outcome = await this.#behaviour.answer(this, field, value);
    if (outcome === 'accepted') return { accepted: true };
    return { accepted: false, detail: `The ${field} is not the right one.` };
  }

  async resume(): Promise<void> {
    this.calls.push('resume');
    await this.#behaviour.resume(this);
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    this.calls.push(`send ${message.reference}`);
    return this.#behaviour.send(this, message, signal);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    this.calls.push('logOut');
    await this.#behaviour.logOut(this);
    return this.#behaviour.loggedOut;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.calls.push('close');
  }
}

/** A driver without a network: the test plays it. Resuming connects at once, linking waits for the test. */
export class FakeDriver implements Driver {
  readonly capabilities: DriverCapabilities;
  readonly identifier?: IdentifierRule;
  readonly sessions: FakeSession[] = [];
  readonly behaviour: Behaviour = {
    open: () => undefined,
    link: () => undefined,
    resume: (session) => session.state('connected'),
    answer: async () => 'wrong',
    send: async (_, message) => ({ networkId: `net_${message.reference}`, at: 0 }),
    logOut: () => undefined,
    loggedOut: 'unlinked',
  };

  constructor(own: Partial<DriverCapabilities> = {}, identifier?: IdentifierRule) {
    this.capabilities = {
      deduplicates: true,
      receipts: 'read',
      recipients: 'phone',
      linkMethods: ['qr', 'pairing_code', 'code'],
      imports: { contacts: true, history: true },
      media: true,
      ...own,
    };
    if (identifier !== undefined) this.identifier = identifier;
  }

  open(account: DriverAccount, port: Port): Session {
    this.behaviour.open();
    const session = new FakeSession(account, port, this.behaviour);
    this.sessions.push(session);
    return session;
  }

  /** The session opened last. @throws Error when there is none */
  get last(): FakeSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('the driver has opened no session');
    return session;
  }

  /** The sessions that are not closed. */
  get live(): readonly FakeSession[] {
    return this.sessions.filter((session) => !session.closed);
  }
}

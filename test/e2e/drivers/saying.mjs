/**
 * A driver from outside that says of its account what the account is called by: `refused.wrong_phone@home` is refused as
 * `wrong_phone`. `asks…` links with the password `right`, `throws…` breaks its contract.
 */
const retryAt = 4_102_444_800_000;

class SayingSession {
  constructor(account, port) {
    const [said] = account.identifier.split('@');
    [this.state, this.reason] = said.split('.');
    this.port = port;
  }

  async link() {
    if (this.state === 'throws') throw new Error('the driver cannot link');
    if (this.state === 'refused') return this.say();
    if (this.state === 'asks') {
      return this.port.emit({ type: 'step', step: { type: 'ask', field: 'password' } });
    }
    await this.connect();
    await this.say();
  }

  async answer() {
    await this.connect();
    return { accepted: true };
  }

  async resume() {
    await this.say();
  }

  async connect() {
    await this.port.credentials.set({ password: 'right' });
    await this.port.emit({ type: 'state', state: 'connected' });
  }

  async say() {
    const { state, reason } = this;
    const detail = `The driver says ${reason} of +15550001111: do something about it.`;
    const more = state === 'restricted' ? { scope: 'all', until: null } : { retryAt };
    await this.port.emit({ type: 'state', state, reason, detail, ...more });
  }

  async send() {
    return new Promise(() => undefined);
  }

  async logOut() {
    return 'unlinked';
  }

  close() {}
}

export default function makeSayingDriver() {
  return {
    capabilities: {
      deduplicates: false,
      receipts: 'none',
      recipients: 'phone',
      linkMethods: ['password'],
      imports: { contacts: false, history: false },
      media: false,
    },
    identifier: {
      description: 'what it is to say, state.reason@host',
      parse: (text) => (/^[\w.]+@\w+$/.test(text) ? text : null),
    },
    open: (account, port) => new SayingSession(account, port),
  };
}

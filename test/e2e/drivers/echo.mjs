import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/**
 * A driver from outside, as a package would bring it: its network is itself. Every message is read at once and comes
 * back as an inbound one. What a message's text or an account's identifier says it does wrong.
 */
const misdeeds = {
  async throws() {
    throw new TypeError('thrown by the driver');
  },
  async leavesRejected() {
    void Promise.reject(new Error('left rejected by the driver'));
  },
  async throwsLater() {
    setTimeout(() => {
      throw new Error('thrown later by the driver');
    }, 5);
  },
  async opensBadly(port) {
    const open = async () => {
      setTimeout(() => {
        throw new Error('thrown by an opened file');
      });
      return Readable.from([Buffer.from('a file')]);
    };
    const from = { phone: null, networkId: 'p', name: null };
    const file = { kind: 'document', mimeType: null, fileName: null, size: null, url: null, open };
    const message = { type: 'message', networkId: 'opened', from, text: '', media: file };
    await port.emit({ ...message, at: Date.now() });
  },
  async abortsBadly(_port, signal) {
    signal.addEventListener('abort', async () => {
      throw new Error('left rejected at the abort');
    });
    await misdeeds.hangs();
  },
  async emitsNonsense(port) {
    for (const event of [undefined, 7, { type: 'message', text: 5 }, { type: 'state' }]) {
      void port.emit(event);
    }
    await port.emit({ type: 'receipt', status: 'lost', at: Number.NaN }).catch(() => undefined);
  },
  async answersNonsense() {
    return { networkId: 7 };
  },
  /** Hands over texts that no database keeps, one message twice. */
  async writesOddly(port) {
    const from = { phone: null, networkId: 'p\0', name: `${'n'.repeat(199)}\u{1f600}` };
    const message = { type: 'message', from, media: null, at: Date.now() };
    for (const networkId of ['x\0', 'x\0', 'y\ud83d']) {
      await port.emit({ ...message, networkId, text: 'a\0b\ud83d' });
    }
  },
  async cannotRead(port) {
    port.leftOut('unreadable');
  },
  async failsOddly() {
    throw Object.assign(new Error('refused with half a pair \ud83d'), {
      ...{ code: 'refused', certain: true, retryAfterMs: null, concerns: 'message' },
      [Symbol.for('messaging-gateway.DriverError')]: true,
    });
  },
  async spams(port) {
    for (let n = 0; n < 1_000; n += 1) {
      port.log.info({ n }, 'said again and again');
      port.log.warn({ n }, `said in other words ${n}`);
      await port.emit(n).catch(() => undefined);
    }
  },
  /** Computes for so many seconds: within the call, behind an answer of the gateway, in a timer. */
  async blocks2() {
    block(2);
  },
  async blocks4() {
    block(4);
  },
  async blocks10() {
    block(10);
  },
  async blocks10behind(port) {
    await port.credentials.get(['password']);
    block(10);
  },
  async blocks2later(port) {
    setTimeout(() => {
      block(2);
      port.leftOut('reaction');
    });
  },
  async blocksForEver() {
    block(Number.POSITIVE_INFINITY);
  },
  hangs: () => new Promise(() => undefined),
};

function block(seconds) {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end);
}

class EchoSession {
  constructor(account, port, dataDir) {
    if (account.identifier === 'never@opens') throw new Error('the driver cannot open');
    this.account = account;
    this.port = port;
    this.away = join(dataDir, 'away');
  }

  async link() {
    if (this.account.identifier === 'never@links') throw new Error('the driver cannot link');
    await this.port.credentials.clear();
    const server = { type: 'ask', field: 'server_name', label: 'Which server?' };
    const isAsked = this.account.identifier === 'asks@more';
    await this.port.emit({
      type: 'step',
      step: isAsked ? server : { type: 'ask', field: 'password' },
    });
  }

  async answer(field, value) {
    if (field === 'server_name') {
      if (value !== 'home') return { accepted: false, detail: 'There is no such server.' };
      await this.port.emit({ type: 'step', step: { type: 'ask', field: 'password' } });
      return { accepted: true };
    }
    if (this.account.identifier === 'never@answers') throw new Error('the driver cannot answer');
    if (value !== 'right') return { accepted: false, detail: 'The password is wrong.' };
    await this.port.credentials.set({ password: value });
    await this.port.emit({ type: 'state', state: 'connected' });
    return { accepted: true };
  }

  /** The network is there once no file says that it is away. */
  async resume() {
    if (existsSync(this.away)) return void setTimeout(() => this.resume(), 20);
    await this.port.emit({ type: 'state', state: 'connected' });
  }

  async send({ reference, to, text }, signal) {
    const wrong = await misdeeds[text]?.(this.port, signal);
    if (wrong !== undefined) return wrong;
    const at = Date.now();
    const networkId = `net_${reference}`;
    const inbound = {
      networkId: `echo_${reference}`,
      from: { ...to, name: null },
      media: null,
      at,
    };
    const receipt = { reference, networkId: null, status: 'read', error: null, at };
    setTimeout(() => {
      void this.port.emit({ type: 'receipt', ...receipt });
      void this.port.emit({ type: 'message', ...inbound, text });
    });
    return { networkId, at };
  }

  async logOut() {
    if (this.account.identifier === 'never@leaves') await misdeeds.hangs();
    return 'unlinked';
  }

  close() {
    if (this.account.identifier === 'bad@home') throw new Error('the driver cannot close');
  }
}

export default function makeEchoDriver({ options, dataDir }) {
  writeFileSync(join(dataDir, 'made'), '');
  return {
    capabilities: {
      deduplicates: false,
      receipts: 'none',
      recipients: options.recipients,
      maxText: options.max_text,
      linkMethods: ['password'],
      imports: { contacts: false, history: false },
      media: false,
    },
    identifier: {
      description: 'an address, name@host',
      parse(text) {
        if (text === 'never@parses') throw new Error('the driver cannot read');
        if (text === 'later@parses') return Promise.resolve(text);
        return /^\w+@\w+$/.test(text) ? text : null;
      },
    },
    address: {
      description: 'a nickname',
      parse(text) {
        if (!options.reads) throw new Error('the driver cannot read addresses');
        return /^[a-z]+$/i.test(text) ? text.toLowerCase() : null;
      },
    },
    open: (account, port) => new EchoSession(account, port, dataDir),
    close: () => (options.closes === false ? misdeeds.hangs() : Promise.resolve()),
  };
}

makeEchoDriver.optionsSchema = {
  type: 'object',
  properties: {
    closes: { type: 'boolean', default: true },
    reads: { type: 'boolean', default: true },
    recipients: { type: 'string', default: 'phone' },
    max_text: { type: 'integer', default: 4096 },
  },
  additionalProperties: false,
};

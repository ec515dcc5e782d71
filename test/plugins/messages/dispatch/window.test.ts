import t from 'tap';
import { DriverError, type OutboundMessage } from '../../../../core/contracts/driver.ts';
import { createLog } from '../../../../core/log.ts';
import { Dispatcher } from '../../../../plugins/messages/dispatch/dispatcher.ts';
import { unpaced } from '../../../../plugins/messages/dispatch/pace.ts';
import type { Media } from '../../../../plugins/messages/tables/message-rows.ts';
import { databases } from '../../../harness/databases.ts';
import {
  acceptedId,
  FakeSession,
  inbound,
  makeTenant,
  openStage,
  type Stage,
  startSession,
  until,
} from '../stage.ts';

const picture: Media = {
  ...{ kind: 'image', url: 'https://example.com/picture.jpg' },
  ...{ mime_type: null, file_name: null, size: null },
};

const never = (): Promise<never> => new Promise(() => undefined);
const lost = () => new DriverError('connection_lost', 'the connection broke', { certain: false });

/** An account whose driver has a window of eight, and what was sent through it. */
class Account {
  /** The ids of its messages by name, such as `a1`: the first message to contact a. */
  readonly ids = new Map<string, string>();
  readonly stage: Stage;
  readonly tenantId: string;
  session: FakeSession;

  constructor(stage: Stage, tenantId: string, session: FakeSession) {
    this.stage = stage;
    this.tenantId = tenantId;
    this.session = session;
  }

  static async open(t: Parameters<typeof startSession>[0], stage: Stage): Promise<Account> {
    const { tenantId, accountIds } = await makeTenant(stage);
    const session = wide(tenantId, accountIds[0] ?? '', stage.broker.processId);
    return new Account(stage, tenantId, await startSession(t, stage, session));
  }

  /** Accepts messages one after the other. */
  async send(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const decision = await this.stage.send({
        tenantId: this.tenantId,
        accountId: this.session.account.id,
        phone: `+1202555${name.charCodeAt(0).toString().padStart(4, '0')}`,
        text: name,
        // A name with a question mark is that of a message with media.
        media: name.endsWith('?') ? picture : null,
      });
      this.ids.set(name, acceptedId(decision));
    }
  }

  /** The names of what the network took, in order. */
  get taken(): readonly string[] {
    const names = new Map([...this.ids].map(([name, id]) => [id, name]));
    return this.session.taken.map((id) => names.get(id) ?? id);
  }

  /** The same to one contact. */
  takenBy(contact: string): string {
    return this.taken.filter((name) => name.startsWith(contact)).join(' ');
  }

  async status(name: string): Promise<string> {
    const id = this.ids.get(name) ?? '';
    const found = await this.stage.storage.read.messages.find(this.tenantId, id);
    return found?.error?.split(':')[0] ?? found?.status ?? 'gone';
  }

  async reach(status: string, ...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await until(`${name} to be ${status}`, async () => (await this.status(name)) === status);
    }
  }
}

function wide(tenantId: string, accountId: string, owner: string, fence = 1): FakeSession {
  const session = new FakeSession(tenantId, accountId, owner, fence);
  session.capabilities = { ...session.capabilities, window: 8 };
  return session;
}

const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

for (const engine of databases) {
  t.test(`several conversations under way, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);

    t.test('a hanging contact holds up its own conversation only', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      session.answer = async (one) => {
        if (one.text === 'a1') await released;
        return session.take(one);
      };
      await account.send('a1', 'a2', 'b1', 'b2', 'c1', 'b3');
      await account.reach('sent', 'b1', 'b2', 'b3', 'c1');
      t.same(await account.status('a2'), 'queued');
      t.same(account.takenBy('b'), 'b1 b2 b3');
      release();
      await account.reach('sent', 'a1', 'a2');
      t.same(account.takenBy('a'), 'a1 a2');
      t.equal(session.handed.length, 6, 'each was handed over once');
    });

    t.test('more than the queue holds wait for one contact', async (t) => {
      const { tenantId, accountIds } = await makeTenant(stage);
      const [accountId = ''] = accountIds;
      const session = wide(tenantId, accountId, stage.broker.processId);
      t.teardown(() => session.end());
      const { read } = stage.storage;
      const dispatcher = new Dispatcher(session, {
        ...{ read, step: stage.lanes.dispatch, pace: unpaced, log: createLog('silent') },
        ...{ capacity: 20, announce: () => undefined },
      });
      session.answer = (one) =>
        one.text === 'hangs' ? never() : Promise.resolve(session.take(one));
      const send = async (text: string, phone: string): Promise<string> =>
        acceptedId(await stage.send({ tenantId, accountId, text, phone }));
      dispatcher.ready();
      for (let n = 0; n < 25; n += 1) await send('hangs', '+12025550100');
      dispatcher.poll();
      await until('the first to be handed over', () => session.handed.length === 1);
      const ids: string[] = [];
      for (let n = 1; n <= 20; n += 1) {
        ids.push(await send('goes', `+12025550${100 + n}`));
        const queued = await read.queuedMessages.queuedOf(accountId, 0, 200);
        t.equal(dispatcher.wake(queued.slice(-1)), true);
      }
      await until('the others to be sent', () => session.taken.length === ids.length);
      t.same([...session.taken].sort(), ids.sort());
      t.equal(session.handed.length, 1 + ids.length, 'each was handed over once');
    });

    t.test('eight at once and no more, each conversation in order', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      let underWay = 0;
      let most = 0;
      const perContact = new Map<string | null, number>();
      session.answer = async (one) => {
        underWay += 1;
        most = Math.max(most, underWay);
        const mine = (perContact.get(one.to.phone) ?? 0) + 1;
        perContact.set(one.to.phone, mine);
        t.equal(mine, 1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        underWay -= 1;
        perContact.set(one.to.phone, 0);
        return session.take(one);
      };
      const names = Array.from({ length: 120 }, (_, n) => `${'abcdefghijkl'[n % 12]}${n}`);
      session.connected = false;
      await account.send(...names);
      session.connected = true;
      stage.part.ready(session);
      await account.reach('sent', ...names);
      t.equal(most, 8);
      for (const contact of 'abcdefghijkl') {
        t.equal(
          account.takenBy(contact),
          names.filter((name) => name.startsWith(contact)).join(' '),
        );
      }
      t.equal(session.handed.length, names.length);
    });

    t.test('media that is late holds up its own conversation only', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const arrivals = new Map<string, () => void>();
      const begun: string[] = [];
      const forgotten: string[] = [];
      const arrived = new Set<string>();
      session.mediaAhead = {
        begin: (id) => begun.push(id),
        isSettled: (id) => arrived.has(id),
        settled: (id) =>
          new Promise((resolve) =>
            arrivals.set(id, () => {
              arrived.add(id);
              resolve();
            }),
          ),
        take: async () => null,
        forget: (id) => forgotten.push(id),
      };
      const hanging = Array.from({ length: 12 }, (_, n) => `${'abcdefghijkl'[n]}1`);
      for (const name of hanging) await account.send(`${name}?`);
      await account.send('a2', 'm1', 'n1');
      await account.reach('sent', 'm1', 'n1');
      t.same(account.taken, ['m1', 'n1']);
      t.equal(begun.length, 12, 'each is fetched as soon as it is known');
      const first = account.ids.get('a1?') ?? '';
      const row = await stage.storage.read.messages.find(account.tenantId, first);
      t.match(row, { dispatchedAt: null, attempts: 0 }, 'the network does not know of it');
      for (const arrive of arrivals.values()) arrive();
      await account.reach('sent', ...account.ids.keys());
      t.equal(account.takenBy('a'), 'a1? a2');
      t.equal(session.handed.length, 15);
      t.same(forgotten, []);

      await account.send('a3?');
      await until('it to be asked for', () => arrivals.has(account.ids.get('a3?') ?? ''));
      await stage.run((unit) => stage.part.abandon(unit, session.account.id, 'logged_out'));
      arrivals.get(account.ids.get('a3?') ?? '')?.();
      await until('its file to be forgotten', () => forgotten.length === 1);
      t.equal(session.handed.length, 15);
    });

    t.test('a wait of one contact, and one of the account', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const refusals = new Map<string, DriverError>();
      let refusedAt = 0;
      const wait = (concerns: 'contact' | 'account') =>
        new DriverError('wait', 'later', { certain: true, retryAfterMs: 400, concerns });
      session.answer = async (one) => {
        const refusal = refusals.get(one.text);
        refusals.delete(one.text);
        refusedAt = refusal === undefined ? refusedAt : Date.now();
        if (refusal !== undefined) throw refusal;
        return session.take(one);
      };
      refusals.set('a1', wait('contact'));
      // All are queued before the wait begins.
      session.connected = false;
      await account.send('a1', 'a2', 'b1', 'c1');
      session.connected = true;
      stage.part.ready(session);
      await account.reach('sent', 'a1', 'a2', 'b1', 'c1');
      t.same(account.taken, ['b1', 'c1', 'a1', 'a2']);
      t.same(session.handed.at(-1)?.attempt, 1, 'a certain try does not count');

      refusals.set('a3', wait('account'));
      await account.send('a3');
      await until('the refusal', () => !refusals.has('a3'));
      await account.send('b2', 'c2');
      await account.reach('sent', 'a3', 'b2', 'c2');
      t.ok(Date.now() - refusedAt > 200, 'nobody was written to meanwhile');
      t.same([account.taken.slice(4).length, account.takenBy('a')], [3, 'a1 a2 a3']);
    });

    t.test('a wait that the network has named goes on when the session is ready', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const refusals = new Map<string, DriverError>();
      const named = { certain: true, retryAfterMs: 60_000 };
      const refuse = (name: string, options: ConstructorParameters<typeof DriverError>[2]) =>
        refusals.set(name, new DriverError('wait', 'later', options));
      session.answer = async (one) => {
        const refusal = refusals.get(one.text);
        refusals.delete(one.text);
        if (refusal !== undefined) throw refusal;
        return session.take(one);
      };
      const refused = (name: string) => until(`${name} to be refused`, () => !refusals.has(name));
      const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

      refuse('a1', { ...named, concerns: 'contact' });
      await account.send('a1', 'a2', 'b1');
      await account.reach('sent', 'b1');
      await refused('a1');
      stage.part.ready(session);
      await account.send('b2');
      await account.reach('sent', 'b2');
      await settled();
      t.same(account.taken, ['b1', 'b2'], 'the contact waits');

      refuse('c1', { ...named, concerns: 'account' });
      await account.send('c1');
      await refused('c1');
      session.restriction = 'new_contacts';
      stage.part.ready(session);
      session.connected = false;
      session.connected = true;
      stage.part.ready(session);
      await account.send('b3');
      await settled();
      t.same(account.taken, ['b1', 'b2'], 'everybody waits');

      // A wait for the end of a restriction is over with it.
      session.restriction = 'all';
      stage.part.ready(session);
      session.restriction = null;
      stage.part.ready(session);
      await account.reach('sent', 'b3', 'c1');
      t.same(account.takenBy('a'), '');

      refuse('d1', { certain: false, retryAfterMs: 0 });
      await account.send('d1');
      await refused('d1');
      stage.part.ready(session);
      await account.reach('sent', 'd1');

      // Of two waits of the account at once each ends for itself.
      refuse('e1', { certain: true, retryAfterMs: 700, concerns: 'account' });
      refuse('f1', { certain: false, retryAfterMs: 0, concerns: 'account' });
      const began = Date.now();
      await account.send('e1', 'f1');
      await account.reach('sent', 'e1', 'f1');
      t.ok(Date.now() - began >= 700);
    });

    t.test("a wait of the account, and the gateway's own hold", async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const ready = (shown: Partial<Pick<FakeSession, 'restriction' | 'restrictionReason'>>) => {
        Object.assign(session, { restriction: null, restrictionReason: null }, shown);
        stage.part.ready(session);
      };
      const held = { restriction: 'all', restrictionReason: 'safety_limits' } as const;
      const blocked = { restriction: 'all', restrictionReason: 'blocked_by_msgapp' } as const;
      const refuse = async (name: string) => {
        let isRefused = false;
        session.answer = async (one) => {
          if (isRefused) return session.take(one);
          isRefused = true;
          throw new DriverError('wait', 'later', { certain: true, retryAfterMs: 60_000 });
        };
        await account.send(name);
        await until(`${name} to be refused`, () => isRefused);
      };
      const waits = async (name: string) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        t.notOk(account.taken.includes(name), `${name} waits`);
      };

      await refuse('a1');
      ready(held);
      ready({});
      await waits('a1');
      // The network's restriction takes the place of a hold, and the hold goes on behind it.
      ready(held);
      ready(blocked);
      ready(held);
      await waits('a1');
      ready({});
      await account.reach('sent', 'a1');

      await refuse('a2');
      ready(held);
      ready(blocked);
      ready({});
      await account.reach('sent', 'a2');

      await refuse('a3');
      ready(blocked);
      ready({ restriction: 'new_contacts', restrictionReason: 'blocked_by_msgapp' });
      await account.reach('sent', 'a3');
    });

    t.test('a wait and restrictions that come while a step is being stored', async (t) => {
      const account = await Account.open(t, stage);
      const { session, tenantId } = account;
      let refuse = (): void => undefined;
      session.answer = (one) =>
        session.handed.length > 1
          ? Promise.resolve(session.take(one))
          : new Promise((_, reject) => {
              const wait = { certain: true, retryAfterMs: 60_000 };
              refuse = () => reject(new DriverError('wait', 'later', wait));
            });
      await account.send('a1');
      await until('the first to be under way', () => session.handed.length === 1);
      /** Stores the intents of what was accepted meanwhile; `change` comes before they are durable. */
      const storing = async (change: () => void, ...names: readonly string[]) => {
        session.connected = false;
        await account.send(...names);
        let begin = (): void => undefined;
        let end = (): void => undefined;
        const begun = new Promise<void>((resolve) => {
          begin = resolve;
        });
        const ended = new Promise<void>((resolve) => {
          end = resolve;
        });
        const held = stage.run(async (unit) => {
          await unit.leases.rows.lockFree([session.fence]);
          begin();
          await ended;
        });
        await begun;
        session.connected = true;
        stage.part.ready(session);
        await new Promise((resolve) => setTimeout(resolve, 100));
        change();
        end();
        await held;
      };
      const isUndispatched = async (name: string) => {
        const row = await stage.storage.read.messages.find(tenantId, account.ids.get(name) ?? '');
        return row?.attempts === 0 && row.dispatchedAt === null;
      };

      await storing(() => refuse(), 'b1', 'c1');
      await until('the refusal to be stored', () => isUndispatched('a1'));
      await until('b1 to be taken back', () => isUndispatched('b1'));
      await until('c1 to be taken back', () => isUndispatched('c1'));
      stage.part.ready(session);
      await new Promise((resolve) => setTimeout(resolve, 100));
      t.equal(session.handed.length, 1, 'nothing goes out in the middle of the wait');
      session.restriction = 'all';
      stage.part.ready(session);
      session.restriction = null;
      stage.part.ready(session);
      await account.reach('sent', 'a1', 'b1', 'c1');

      await storing(() => Object.assign(session, { restriction: 'all' }), 'b2', 'd1');
      await until('no intent to be left', async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return (await isUndispatched('b2')) && (await isUndispatched('d1'));
      });
      t.equal(session.handed.length, 4, 'nor under a restriction');
      session.restriction = null;
      stage.part.ready(session);
      await account.reach('sent', 'b2', 'd1');
      t.same(session.handed.at(-1)?.attempt, 1);

      const closed = { restriction: 'new_contacts', restrictionReason: 'safety_limits' };
      await storing(() => Object.assign(session, closed), 'b3', 'e1');
      await account.reach('safety_limits', 'e1');
      await account.reach('sent', 'b3');
      t.equal(session.handed.length, 7);
    });

    t.test('a connection lost with eight under way', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const breaks: (() => void)[] = [];
      session.answer = (one) =>
        new Promise((_, reject) => {
          // The network had taken every second one.
          if (breaks.length % 2 === 0) session.take(one);
          breaks.push(() => reject(lost()));
        });
      await account.send(...eight.map((name) => `${name}1`), ...eight.map((name) => `${name}2`));
      await until('eight to be under way', () => breaks.length === 8);
      session.connected = false;
      for (const end of breaks) end();
      session.answer = async (one) => session.take(one);
      t.equal(session.handed.length, 8);
      session.connected = true;
      stage.part.ready(session);
      await account.reach('sent', ...account.ids.keys());
      for (const name of eight) t.equal(account.takenBy(name), `${name}1 ${name}2`);
      const attempts = session.handed.map(({ text, attempt }) => `${text} ${attempt}`);
      t.same(
        attempts
          .slice(8)
          .filter((one) => one.includes('1 '))
          .sort(),
        eight.map((name) => `${name}1 2`),
        'each is repeated once, under its reference',
      );
    });

    t.test('a process that dies with eight under way', async (t) => {
      const account = await Account.open(t, stage);
      const first = account.session;
      first.answer = (one) => {
        first.take(one);
        return never();
      };
      await account.send(...eight.map((name) => `${name}1`), 'a2');
      await until('eight to be under way', () => first.handed.length === 8);
      first.end();
      await stage.part.closed(first);
      const { id } = first.account;
      await stage.run((unit) =>
        unit.leases.take([id], stage.broker.processId, unit.now + 9000, 9000),
      );
      const second = wide(account.tenantId, id, stage.broker.processId, 2);
      account.session = second;
      await startSession(t, stage, second);
      await account.reach('sent', ...account.ids.keys());
      t.same(
        second.handed.map(({ text, attempt }) => `${text} ${attempt}`).sort(),
        ['a2 1', ...eight.map((name) => `${name}1 2`)].sort(),
      );
      t.equal(account.takenBy('a'), 'a1 a2');
    });

    t.test('a lease lost with eight under way', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const answers: (() => void)[] = [];
      session.answer = (one) =>
        new Promise((resolve) => answers.push(() => resolve(session.take(one))));
      await account.send(...eight.map((name) => `${name}1`), 'a2', 'i1');
      await until('eight to be under way', () => answers.length === 8);
      const { id } = session.account;
      await stage.run((unit) => unit.leases.take([id], 'other', unit.now + 9000, 9000));
      for (const answer of answers) answer();
      stage.part.sweep();
      await new Promise((resolve) => setTimeout(resolve, 100));
      t.equal(session.handed.length, 8, 'nothing else goes out');
      for (const name of ['a1', 'a2', 'i1']) t.equal(await account.status(name), 'queued');
    });

    t.test('a flag, a restriction and a removal with eight under way', async (t) => {
      const account = await Account.open(t, stage);
      const { session } = account;
      const answers = new Map<string, () => void>();
      session.answer = (one: OutboundMessage) =>
        new Promise((resolve) => answers.set(one.text, () => resolve(session.take(one))));
      await account.send(...eight.map((name) => `${name}1`), 'a2', 'b2', 'i1');
      await until('eight to be under way', () => answers.size === 8);
      const a2 = account.ids.get('a2') ?? '';
      await stage.run(async (unit) => {
        const [queued] = await unit.messages.byIds([a2]);
        const [contact] = await unit.contacts.byIds([queued?.contactId ?? '']);
        if (contact !== undefined) await unit.contacts.save([{ ...contact, doNotDisturb: true }]);
      });
      answers.get('a1')?.();
      await account.reach('sent', 'a1');
      await until('the next contact to follow', () => answers.has('i1'));
      answers.get('c1')?.();
      await account.reach('contact_do_not_disturb', 'a2');
      session.restriction = 'all';
      answers.get('b1')?.();
      await account.reach('sent', 'b1');
      t.equal(await account.status('b2'), 'queued', 'what is under way is answered, no more');
      await stage.run((unit) => stage.part.abandon(unit, session.account.id, 'logged_out'));
      t.equal(await account.status('b2'), 'logged_out');
      t.equal(await account.status('d1'), 'delivery_uncertain');
      session.end();
      await stage.part.closed(session);
      t.equal(session.handed.length, 9);
    });

    t.test('two contacts that turn out to be one person', async (t) => {
      const account = await Account.open(t, stage);
      const { session, tenantId } = account;
      const hidden = { phone: null, networkId: 'hidden@net', name: 'Ada' };
      await stage.part.receive(session, { ...inbound('hello'), from: hidden });
      const [known] = await stage.storage.read.messages.inboundAfter(tenantId, 0, null, 1);
      const answers = new Map<string, () => void>();
      session.answer = (one) =>
        new Promise((resolve) => answers.set(one.text, () => resolve(session.take(one))));
      const write = async (text: string, to: object) => {
        const decision = await stage.send({ tenantId, accountId: session.account.id, text, ...to });
        account.ids.set(text, acceptedId(decision));
      };
      const byNumber = { phone: '+12025550199' };
      const byId = { contactId: known?.contactId ?? '', phone: null };
      await write('p1', byNumber);
      await until('the first to be under way', () => answers.size === 1);
      await write('p2', byNumber);
      await write('p3', byId);
      await until('both conversations to be under way', () => answers.has('p3'));
      await write('p4', byId);
      await write('p5', byNumber);
      const person = { phone: '+12025550199', networkId: 'hidden@net' };
      await stage.part.receive(session, { type: 'identity', ...person, name: 'Ada' });
      await write('p6', byNumber);
      for (const text of ['p3', 'p1', 'p2', 'p4', 'p5', 'p6']) {
        await until(`${text} to be under way`, () => answers.has(text));
        answers.get(text)?.();
      }
      await account.reach('sent', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6');
      t.same(account.taken, ['p3', 'p1', 'p2', 'p4', 'p5', 'p6']);
      t.equal(session.handed.length, 6);
    });

    t.test('two contacts that another process finds to be one person', async (t) => {
      const other = await openStage(t, database.url);
      for (const p1 of ['hangs', 'waits', 'is queued'] as const) {
        const { tenantId, accountIds } = await makeTenant(stage, 2);
        const [here = '', there = ''] = accountIds;
        const session = wide(tenantId, here, stage.broker.processId);
        const account = new Account(stage, tenantId, await startSession(t, stage, session));
        const elsewhere = wide(tenantId, there, stage.broker.processId);
        await startSession(t, other, elsewhere);
        const hidden = { phone: null, networkId: 'hidden@net', name: 'Ada' };
        await other.part.receive(elsewhere, { ...inbound('hello'), from: hidden });

        await account.send('q0');
        await account.reach('sent', 'q0');
        await until('the queue to be known', () => stage.idle(here));

        let release = (): void => undefined;
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        const wait = { certain: true, retryAfterMs: 10_000, concerns: 'contact' } as const;
        session.answer = async (one) => {
          if (session.handed.length === 2 && p1 === 'waits') {
            throw new DriverError('wait', 'later', wait);
          }
          if (one.text === 'p1' && p1 === 'hangs') await released;
          return session.take(one);
        };
        session.connected = p1 !== 'is queued';
        await account.send('p1', 'p2', 'p3');
        if (session.connected) {
          await until('the first to be handed over', () => session.handed.length === 2);
        }
        if (p1 === 'waits') {
          const first = account.ids.get('p1') ?? '';
          await until('the refusal to be stored', async () => {
            const row = await stage.storage.read.messages.find(tenantId, first);
            return row?.attempts === 0;
          });
        }
        const person = { phone: '+12025550112', networkId: 'hidden@net', name: 'Ada' };
        await other.part.receive(elsewhere, { type: 'identity', ...person });
        await account.send('p4', 'q1', 'p5');
        if (session.connected) await account.reach('sent', 'q1');
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (p1 === 'hangs') t.same(account.taken, ['q0', 'q1'], 'nobody overtakes what hangs');
        release();
        session.connected = true;
        stage.part.ready(session);
        await account.reach('sent', 'p1', 'p2', 'p3', 'p4', 'p5');
        t.equal(account.takenBy('p'), 'p1 p2 p3 p4 p5', `the first ${p1}`);
        t.equal(session.handed.length, p1 === 'waits' ? 8 : 7);

        await account.send('p6');
        await account.reach('sent', 'p6');
      }
    });
  });
}

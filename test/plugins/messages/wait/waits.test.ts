import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../core/contracts/clock.ts';
import type { Lane } from '../../../../core/contracts/storage.ts';
import { deadAfterMs } from '../../../../core/heartbeat.ts';
import { beatLane } from '../../../../plugins/cluster/lanes.ts';
import type { MessageWithContact } from '../../../../plugins/messages/tables/message-rows.ts';
import { pruneWaits } from '../../../../plugins/messages/upkeep.ts';
import { makeSlotLanes } from '../../../../plugins/messages/wait/slots.ts';
import type { WaitResult } from '../../../../plugins/messages/wait/wait-result.ts';
import { type WaitRequest, Waits } from '../../../../plugins/messages/wait/waits.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { FaultyServer } from '../../storage/faulty-server.ts';
import { FakeSession, hub, inbound, makeTenant, openStage, type Stage, until } from '../stage.ts';

function request(tenantId: string, changes: Partial<WaitRequest> = {}): WaitRequest {
  return {
    tenantId,
    keyId: 'key_1',
    accounts: null,
    position: null,
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A promise, and what resolves it. */
function gate(): readonly [Promise<void>, () => void] {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

type Page = readonly MessageWithContact[];

/** The waits of another process, whose reads of one account's page go through this. */
function waitsOf(
  { storage: { read } }: Stage,
  page: (accountId: string | null, read: () => Promise<Page>) => Promise<Page>,
): Waits {
  const messages = new Proxy(read.messages, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== 'inboundAfter' || typeof member !== 'function') return member;
      return (...parameters: Parameters<typeof target.inboundAfter>): Promise<Page> =>
        page(parameters[2], () => Reflect.apply(member, target, parameters));
    },
  });
  return new Waits({
    read: { ...read, messages },
    lanes: {
      passWait: async () => null,
      openWait: async ({ id }) => ({ id, held: 1, latest: 0 }),
      closeWaits: async () => undefined,
    },
    authenticator: { isCurrent: async () => true },
    processId: 'p',
    clock: systemClock,
    log: { warn() {}, debug() {} } as never,
  });
}

const texts = (result: WaitResult): string[] => result.messages.map((message) => message.text);

for (const engine of databases) {
  t.test(`waits, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const shared = hub();
    const revoked = new Set<string>();
    const options = { hub: shared, isCurrent: (keyId: string) => !revoked.has(keyId) };
    const stage = await openStage(t, database.url, options);
    // A second process; on SQLite it shares the file, which is enough to tell processes apart.
    const other = await openStage(t, database.url, options);
    const open = async (accounts = 1) => {
      // A process that was not heard of for a while counts as dead, and its waits as none.
      await stage.beat();
      await other.beat();
      const { tenantId, accountIds } = await makeTenant(stage, accounts);
      const sessions = accountIds.map(
        (id) => new FakeSession(tenantId, id, stage.broker.processId),
      );
      return { tenantId, sessions, session: sessions[0] as FakeSession };
    };
    // One for each row of waits that opened together.
    const rows = async (tenantId: string): Promise<number[]> => {
      const { read } = stage.storage.connections;
      return await read('waits').where('tenant_id', tenantId).orderBy('slots').pluck('slots');
    };
    const slots = async (tenantId: string): Promise<number> =>
      (await rows(tenantId)).reduce((sum, held) => sum + held, 0);

    t.test('what came before, what comes, and nothing', async (t) => {
      const { tenantId, session } = await open();
      await stage.part.receive(session, inbound('a'));
      const empty = await stage.waits.wait(request(tenantId, { timeoutMs: 0 }));
      t.same(empty, { messages: [], position: 1 }, 'without a cursor it starts from now');
      const coming = stage.waits.wait(request(tenantId, { position: 1 }));
      const elsewhere = other.waits.wait(request(tenantId));
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      await pause(50);
      await stage.part.receive(session, inbound('b'));
      t.same(texts(await coming), ['b']);
      t.same(texts(await elsewhere), ['b'], 'on another process, too');
      t.same(texts(await stage.waits.wait(request(tenantId, { position: 0 }))), ['a', 'b']);
      t.match(await stage.waits.wait(request(tenantId, { position: 0 })), { position: 2 });
      t.same(await rows(tenantId), [], 'every place is free again');
    });

    t.test('a sleeping wait is handed what its process stores, as a read finds it', async (t) => {
      const { tenantId, sessions } = await open(2);
      const [one, two] = sessions as [FakeSession, FakeSession];
      const { read } = stage.storage;
      await stage.part.receive(one, inbound('before'));
      const before = stage.handedOver();
      const asleep = (accountId: string | null) => {
        const waiting = stage.waits.wait(
          request(tenantId, {
            accounts: accountId === null ? null : new Set([accountId]),
            position: 1,
          }),
        );
        return until('it to sleep', () =>
          [...stage.waits.of(tenantId)].some(({ sleepsIn }) => sleepsIn !== null),
        ).then(() => ({ waiting }));
      };
      const { waiting } = await asleep(null);
      const elsewhere = other.waits.wait(request(tenantId, { position: 1 }));
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      const from = { phone: '+12025550177', networkId: null, name: 'Ada' };
      await stage.part.receive(one, { ...inbound('from Ada'), from });
      const handed = await waiting;
      t.equal(stage.handedOver() - before, 1);
      t.same(handed.messages, await read.messages.inboundAfter(tenantId, 1, null, 50));
      t.same(await elsewhere, handed, 'another process reads the same');
      t.equal(other.handedOver(), 0);
      t.same(await rows(tenantId), [], 'its slot went with the transaction');

      const ofTwo = await asleep(two.account.id);
      await stage.part.receive(one, inbound('not for it'));
      await stage.part.receive(two, inbound('for it'));
      t.same(texts(await ofTwo.waiting), ['for it']);
      t.same(await rows(tenantId), []);
    });

    t.test('what is rolled back is handed to nobody', async (t) => {
      const { tenantId, session } = await open();
      const before = stage.handedOver();
      const waiting = stage.waits.wait(request(tenantId, { position: 0 }));
      await until('it to be open', async () => (await slots(tenantId)) === 1);
      const broken = { ...inbound('broken'), text: null as unknown as string };
      await t.rejects(stage.part.receive(session, broken));
      t.equal(stage.handedOver(), before);
      t.equal(await slots(tenantId), 1, 'it waits on, in its slot');
      await stage.part.receive(session, inbound('stored'));
      t.same(texts(await waiting), ['stored']);
    });

    t.test('without handing over, waits read', async (t) => {
      const handover = { find: () => ({ slots: [], answer: () => undefined }) };
      const reading = await openStage(t, database.url, { ...options, handover });
      await reading.beat();
      const { tenantId, session } = await open();
      const waiting = reading.waits.wait(request(tenantId, { position: 0 }));
      await until('it to be open', async () => (await slots(tenantId)) === 1);
      await reading.part.receive(session, inbound('a'));
      t.same(texts(await waiting), ['a']);
      t.same(await rows(tenantId), []);
    });

    t.test('one account, and one that is unknown', async (t) => {
      const { tenantId, sessions } = await open(2);
      const [one, two] = sessions as [FakeSession, FakeSession];
      const accountId = two.account.id;
      const coming = stage.waits.wait(
        request(tenantId, { accounts: new Set([accountId]), position: 0 }),
      );
      await stage.part.receive(one, inbound('to one'));
      await stage.part.receive(two, inbound('to two'));
      t.same(texts(await coming), ['to two']);
      const unknown = request(tenantId, {
        ...{ accounts: new Set(['acc_x']), position: 0, timeoutMs: 30 },
      });
      t.same(await stage.waits.wait(unknown), { messages: [], position: 0 });
    });

    t.test('one without a cursor begins at the number at which its slot was granted', async (t) => {
      const { tenantId, session } = await open();
      const total = 20;
      const receiving = (async () => {
        for (let n = 1; n <= total; n += 1) await stage.part.receive(session, inbound(`n${n}`));
      })();
      const followers = [stage, other].map(async (process) => {
        const seen: number[] = [];
        for (let position: number | null = null; position !== total; ) {
          const found: WaitResult = await process.waits.wait(request(tenantId, { position }));
          seen.push(...found.messages.map(({ inboundSequence }) => inboundSequence ?? 0));
          position = found.position;
        }
        return seen;
      });
      await receiving;
      for (const seen of await Promise.all(followers)) {
        const from = seen[0] ?? total + 1;
        const all = Array.from({ length: total - from + 1 }, (_, n) => from + n);
        t.same(seen, all, `every one from ${from} on, once`);
      }
    });

    t.test('at most fifty, and then the rest', async (t) => {
      const { tenantId, session } = await open();
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => stage.part.receive(session, inbound(`n${n}`))),
      );
      const first = await stage.waits.wait(request(tenantId, { position: 0 }));
      t.equal(first.messages.length, 50);
      const rest = await stage.waits.wait(request(tenantId, { position: first.position }));
      t.equal(rest.messages.length, 10);
      t.same(await stage.waits.wait(request(tenantId, { position: rest.position, timeoutMs: 0 })), {
        messages: [],
        position: 60,
      });
    });

    t.test('two slots, over all processes', async (t) => {
      const { tenantId, session } = await open();
      const attempts = Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? stage : other).waits.wait(request(tenantId, { timeoutMs: 9_000 })).then(
          () => 'open',
          (error: { code: string; retryAfterS: number }) => `${error.code} ${error.retryAfterS}`,
        ),
      );
      await until('two to be open', async () => (await slots(tenantId)) === 2);
      const refused: string[] = [];
      for (const attempt of attempts) attempt.then((outcome) => refused.push(outcome));
      await until('the others to be refused', () => refused.length === 18);
      for (const outcome of refused) t.match(outcome, /^wait_concurrency [1-9]$/);
      const zero = stage.waits.wait(request(tenantId, { timeoutMs: 0 }));
      await t.rejects(zero, { code: 'wait_concurrency' });
      await stage.part.receive(session, inbound('a'));
      t.equal((await Promise.all(attempts)).filter((outcome) => outcome === 'open').length, 2);
      await stage.waits.wait(request(tenantId, { timeoutMs: 0 }));
    });

    t.test('one that is refused gives nothing back', async (t) => {
      const { tenantId } = await open();
      let closed = 0;
      const closeWaits: typeof stage.slotLanes.closeWaits = (slots) => {
        closed += 1;
        return stage.slotLanes.closeWaits(slots);
      };
      const waits = stage.waitsOn({ ...stage.slotLanes, closeWaits });
      const client = new AbortController();
      const { signal } = client;
      const waiting = [1, 2].map(() => waits.wait(request(tenantId, { position: 0, signal })));
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      await t.rejects(waits.wait(request(tenantId)), { code: 'wait_concurrency' });
      t.equal(closed, 0, 'a refusal writes nothing');
      client.abort();
      await Promise.all(waiting);
      waits.stop();
    });

    t.test(
      'one whose place may be stored gives it back when it is answered after all',
      async (t) => {
        const { tenantId, session } = await open();
        let isFirst = true;
        const storage: typeof stage.storage = Object.assign(Object.create(stage.storage), {
          // As after a COMMIT whose answer is lost.
          submit: async <In, Out, Found>(lane: Lane<In, Out, Found>, input: In) => {
            const output = await stage.storage.submit(lane, input);
            if (!isFirst) return output;
            isFirst = false;
            t.equal(await slots(tenantId), 1);
            await stage.part.receive(session, inbound('meanwhile'));
            return await stage.storage.submit(lane, input);
          },
        });
        const slotLanes = makeSlotLanes(storage, systemClock, { kind: 'events', slots: 2 });
        const waits = stage.waitsOn(slotLanes);
        t.same(texts(await waits.wait(request(tenantId, { position: 0 }))), ['meanwhile']);
        t.equal(await slots(tenantId), 0);
        waits.stop();
      },
    );

    t.test('one that is answered at once takes no place, but is none too many', async (t) => {
      const { tenantId, session } = await open();
      await stage.part.receive(session, inbound('a'));
      const behind = () => request(tenantId, { position: 0 });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? stage : other).waits.wait(behind())),
      );
      for (const answer of answers) t.same(texts(answer), ['a']);
      const two = [stage, other].map((process) =>
        process.waits.wait(request(tenantId, { timeoutMs: 20_000 })),
      );
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      const refused = { code: 'wait_concurrency', retryAfterS: Number };
      await t.rejects(stage.waits.wait(behind()), refused);
      await stage.part.receive(session, inbound('b'));
      for (const answer of await Promise.all(two)) t.same(texts(answer), ['b']);
      t.same(texts(await other.waits.wait(behind())), ['a', 'b']);
    });

    t.test('a place is over when its wait is, however late it was got', async (t) => {
      const { tenantId } = await open();
      let locked = false;
      const [asked, ask] = gate();
      const slow: Lane<null, null> = {
        name: 'test.slow',
        locks: () => [`tenant:${tenantId}`],
        async run(_unit, inputs) {
          locked = true;
          await asked;
          await pause(4_000);
          return inputs;
        },
      };
      const holding = stage.storage.submit(slow, null);
      await until('the lock', async () => locked);
      const begunAt = Date.now();
      const client = new AbortController();
      const timeoutMs = 20_000;
      const waiting = stage.waits.wait(request(tenantId, { timeoutMs, signal: client.signal }));
      ask();
      await until('the place', async () => (await slots(tenantId)) === 1);
      const { read } = stage.storage.connections;
      const [endsAt] = await read('waits').where('tenant_id', tenantId).pluck('ends_at');
      t.ok(Date.now() - begunAt >= 3_950, 'it had to wait for its place');
      const late = Number(endsAt) - begunAt - timeoutMs;
      t.ok(late < 1_000, `over ${late} ms after the wait`);
      t.ok(late > -1_000, `not before the wait: ${late} ms after it`);
      client.abort();
      await Promise.all([holding, waiting]);
    });

    t.test('a client that goes away frees its place', async (t) => {
      const { tenantId } = await open();
      const [client, patient] = [new AbortController(), new AbortController()];
      const gone = stage.waits.wait(request(tenantId, { signal: client.signal }));
      const long = { timeoutMs: 20_000, signal: patient.signal };
      const stays = other.waits.wait(request(tenantId, long));
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      client.abort();
      await gone;
      const next = stage.waits.wait(request(tenantId, { timeoutMs: 0 }));
      t.same((await next).messages, []);
      patient.abort();
      await stays;
    });

    t.test('slots that were taken together are given back one by one', async (t) => {
      const { tenantId } = await open();
      const clients = [new AbortController(), new AbortController()];
      const waiting = clients.map(({ signal }) =>
        stage.waits.wait(request(tenantId, { position: 0, signal })),
      );
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      t.same(await rows(tenantId), [2], 'one row for both');
      const third = (process: Stage) => process.waits.wait(request(tenantId, { timeoutMs: 0 }));
      for (const process of [stage, other]) {
        await t.rejects(third(process), { code: 'wait_concurrency' });
      }
      clients[0]?.abort();
      await waiting[0];
      t.same(await rows(tenantId), [1], 'and still for the one that is left');
      const patient = new AbortController();
      const long = { timeoutMs: 20_000, signal: patient.signal };
      const late = other.waits.wait(request(tenantId, long));
      await until('another in its place', async () => (await slots(tenantId)) === 2);
      for (const process of [stage, other]) {
        await t.rejects(third(process), { code: 'wait_concurrency' }, 'no third');
      }
      clients[1]?.abort();
      await waiting[1];
      t.same((await third(other)).messages, []);
      patient.abort();
      await late;
      t.same(await rows(tenantId), []);
    });

    t.test('who was answered may ask again at once, on any process', async (t) => {
      const { tenantId, session } = await open();
      const rounds = 30;
      const twice = async (processes: readonly Stage[]): Promise<void> => {
        // Whoever has its answer asks another process next: its former wait must not be counted there.
        for (let position = 0; position < rounds; ) {
          const process = processes[position % processes.length] as Stage;
          position = (await process.waits.wait(request(tenantId, { position }))).position;
        }
      };
      const followers = [twice([stage, other]), twice([stage, other])];
      for (let n = 0; n < rounds; n += 1) {
        await until('both to wait', async () => (await slots(tenantId)) === 2);
        await stage.part.receive(session, inbound(`again ${n}`));
      }
      await t.resolves(Promise.all(followers), 'nobody was refused');
    });

    t.test('what could not be given back is with the next of the same row', async (t) => {
      const { tenantId } = await open();
      const lanes = { ...stage.slotLanes };
      const waits = stage.waitsOn(lanes);
      t.teardown(() => waits.stop());
      const clients = [new AbortController(), new AbortController()];
      const waiting = clients.map(({ signal }) =>
        waits.wait(request(tenantId, { position: 0, signal })),
      );
      await until('both to be open', async () => (await slots(tenantId)) === 2);
      lanes.closeWaits = async () => Promise.reject(new Error('the database is away'));
      clients[0]?.abort();
      await waiting[0];
      t.same(await rows(tenantId), [2]);
      lanes.closeWaits = stage.slotLanes.closeWaits;
      clients[1]?.abort();
      await waiting[1];
      t.same(await rows(tenantId), [], 'both at once');
    });

    t.test('slots of dead processes and of waits that are over do not count', async (t) => {
      const { tenantId } = await open();
      await stage.run(async (unit) => {
        const row = { kind: 'messages', tenantId } as const;
        const dead = { ...row, processId: 'dead', endsAt: unit.now + 50_000 };
        const over = { ...row, processId: other.broker.processId, endsAt: unit.now - 6_000 };
        await unit.waits.open([
          { id: 'w1', held: 1, ...dead },
          { id: 'w2', held: 2, ...dead },
          { id: 'w3', held: 1, ...over },
          { id: 'w4', held: 2, ...over },
        ]);
      });
      await stage.waits.wait(request(tenantId, { timeoutMs: 0 }));
      await stage.waits.wait(request(tenantId, { timeoutMs: 20 }));
      t.equal(await slots(tenantId), 6);
      const now = await stage.storage.now();
      await stage.storage.submit(pruneWaits, { before: now, limit: 10 });
      t.same(await rows(tenantId), [1, 2], 'what is over is deleted');
      await stage.storage.submit(pruneWaits, { before: now + 60_000, limit: 1 });
      t.equal((await rows(tenantId)).length, 1, 'a part at a time');
    });

    t.test('slots of a process that died before the clock was set back are free', async (t) => {
      const { tenantId } = await open();
      const processId = `gone ${tenantId}`;
      const beat = { name: 'any', roles: [], sessions: 0, capacity: 1 };
      await stage.run(async (unit) => {
        const seenAt = unit.now + 3_600_000;
        await unit.processes.beat([{ id: processId, ...beat, seenAt }]);
        const slot = { id: processId, kind: 'messages', tenantId, processId, held: 2 } as const;
        await unit.waits.open([{ ...slot, endsAt: seenAt + 50_000 }]);
      });
      await stage.storage.submit(beatLane, { id: stage.broker.processId, ...beat });
      const counted = async (aliveMs: number): Promise<number> => {
        const found = await stage.storage.read.waits.openOf({
          kind: 'messages',
          tenantIds: [tenantId],
          processIds: ['nobody'],
          except: [],
          aliveMs,
        });
        return found.get(tenantId)?.count ?? 0;
      };
      t.equal(await counted(deadAfterMs), 2, 'a living process would not lose its slots');
      await until('the process to be silent', async () => (await counted(100)) === 0);
      await stage.run((unit) => unit.processes.remove([processId]));
    });

    t.test('a revoked key ends its waits', async (t) => {
      const { tenantId } = await open();
      const waiting = stage.waits.wait(request(tenantId, { keyId: 'key_2', timeoutMs: 20_000 }));
      await until('it to be open', () => stage.waits.size === 1);
      revoked.add('key_2');
      await t.rejects(waiting, { code: 'unauthorized' });
    });

    t.test('a lost wake-up is made good by the rescan', async (t) => {
      const { tenantId, sessions } = await open();
      const deaf = await openStage(t, database.url);
      await deaf.beat();
      // A position of its own: without one, a slow machine could fix it after the message came.
      const waiting = deaf.waits.wait(request(tenantId, { position: 0, timeoutMs: 20_000 }));
      await until('it to be open', () => deaf.waits.size === 1);
      await pause(50);
      await stage.part.receive(sessions[0] as FakeSession, inbound('a'));
      deaf.waits.rescan();
      t.same(texts(await waiting), ['a']);
    });

    t.test('followers see each message exactly once while many commit', async (t) => {
      const { tenantId, sessions } = await open(6);
      const perSession = 25;
      const total = perSession * sessions.length;
      const seen: string[][] = [[], []];
      const follow = async (process: Stage, list: string[], impatient: boolean): Promise<void> => {
        let position = 0;
        const deadline = Date.now() + 30_000;
        while (list.length < total && Date.now() < deadline) {
          const signal = impatient ? AbortSignal.timeout(20) : new AbortController().signal;
          const result = await process.waits.wait(
            request(tenantId, { position, timeoutMs: 2_000, signal }),
          );
          // An answer that the client did not wait for is lost with it.
          if (impatient && signal.aborted) continue;
          list.push(...texts(result));
          position = result.position;
        }
      };
      const followers = [follow(stage, seen[0] ?? [], false), follow(other, seen[1] ?? [], true)];
      await Promise.all(
        sessions.map(async (session, index) => {
          for (let n = 0; n < perSession; n += 1) {
            const name = `${index}/${n}`;
            await stage.part.receive(session, inbound(name, name, `+120255501${index}${n % 10}`));
          }
        }),
      );
      await Promise.all(followers);
      for (const list of seen) {
        t.equal(list.length, total);
        t.equal(new Set(list).size, total);
      }
    });

    t.test('what commits between the reads of two accounts is not passed', async (t) => {
      const { tenantId, sessions } = await open(2);
      const [one, two] = sessions as [FakeSession, FakeSession];
      await stage.part.receive(two, inbound('before'));
      let [first, second] = ['between, of one', 'between, of two'];
      const waits = waitsOf(stage, async (accountId, read) => {
        if (accountId === one.account.id) return await read();
        // The page of the other account is read by now, in its own snapshot.
        await pause(50);
        if (first !== '') await stage.part.receive(one, inbound(first));
        if (second !== '') await stage.part.receive(two, inbound(second));
        [first, second] = ['', ''];
        return await read();
      });
      const accounts = new Set([one.account.id, two.account.id]);
      const seen: string[] = [];
      for (let position = 0; position < 3; ) {
        const found = await waits.wait(request(tenantId, { accounts, position }));
        seen.push(...texts(found));
        position = found.position;
      }
      t.same(seen, ['before', 'between, of one', 'between, of two']);
    });

    t.test('readers at the same position share a read', async (t) => {
      const { tenantId, session } = await open();
      let reads = 0;
      const waits = waitsOf(stage, (_accountId, read) => {
        reads += 1;
        return read();
      });
      const waiting = Array.from({ length: 20 }, () =>
        waits.wait(request(tenantId, { position: 0 })),
      );
      await until('all to sleep', () => {
        const open = [...waits.of(tenantId)];
        return open.length === 20 && open.every(({ isAsleep }) => isAsleep);
      });
      const before = reads;
      await stage.part.receive(session, inbound('a'));
      waits.wake(tenantId);
      for (const one of waiting) t.same(texts(await one), ['a']);
      t.equal(reads - before, 1);

      const last = waits.wait(request(tenantId, { position: 1, timeoutMs: 20_000 }));
      await until('it to sleep', () => waits.size === 1);
      waits.stop();
      t.same(await last, { messages: [], position: 1 }, 'a stop answers with what there is');
    });
  });
}

t.test('after an outage of the database a tenant may wait at once', async (t) => {
  const database = await engines.mariadb.create(t);
  const line = await FaultyServer.open(database.url, t);
  const options = { hub: hub(), isCurrent: () => true };
  const stage = await openStage(t, line.url, options);
  const other = await openStage(t, database.url, options);
  await stage.beat();
  const { tenantId } = await makeTenant(stage, 1);
  const wait = () => stage.waits.wait(request(tenantId, { position: 0, timeoutMs: 60_000 }));
  const interrupted = [wait(), wait()];
  const { read } = other.storage.connections;
  await until('both to be open', async () => {
    const held: number[] = await read('waits').pluck('slots');
    return held.reduce((sum, slots) => sum + slots, 0) === 2;
  });

  line.goDown();
  stage.waits.wake(tenantId);
  for (const one of interrupted) await t.rejects(one, { code: 'unavailable' });
  line.recover();
  const probe = () =>
    stage.storage.probe().then(
      () => true,
      () => false,
    );
  await until('the database to answer again', probe);
  const client = new AbortController();
  const again = [1, 2].map(() =>
    stage.waits.wait(request(tenantId, { position: 0, timeoutMs: 60_000, signal: client.signal })),
  );
  await pause(500);
  client.abort();
  for (const one of again) t.same(await one, { messages: [], position: 0 }, 'it was let in');
  t.same(await read('waits').pluck('slots'), [], 'every place is free again');
});

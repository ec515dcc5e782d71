import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DriverError, type InboundMedia } from '../../../core/contracts/driver.ts';
import { notConnected } from '../../../core/contracts/driver-error.ts';
import { GatewayError } from '../../../core/errors.ts';
import { mediaReference } from '../../../core/media-reference.ts';
import type { Contact } from '../../../plugins/contacts/contract.ts';
import { Deletion } from '../../../plugins/media/deletion.ts';
import { retireLane } from '../../../plugins/media/lanes.ts';
import { S3Store } from '../../../plugins/media/store/s3.ts';
import { sweep } from '../../../plugins/media/upkeep.ts';
import { ArrivalLine } from '../../../plugins/messages/receive/arrival-line.ts';
import { storeMerges } from '../../../plugins/messages/receive/merge.ts';
import { run } from '../../fixtures/process.ts';
import { databases, engines, storyDatabases } from '../../harness/databases.ts';
import { drip, file, mediaServer, picture } from '../../harness/media-server.ts';
import { s3Server } from '../../harness/s3-server.ts';
import { doneWithin } from '../../harness/times.ts';
import {
  FakeSession,
  forgetContact,
  inbound,
  makeTenant,
  openStage,
  until,
} from '../messages/stage.ts';
import { mediaWorld, type WorldOptions } from './world.ts';

const patient = new AbortController().signal;

/** A picture that only the network's own client can read. */
function opened(open: InboundMedia['open'], more: Partial<InboundMedia> = {}): InboundMedia {
  const facts = { kind: 'image', mimeType: 'image/png', fileName: 'a.png', size: null } as const;
  return { ...facts, url: null, ...(open === undefined ? {} : { open }), ...more };
}

const pictureOpened = () => opened(async () => Readable.from([picture]));

/** Messages of one account with real media on a real database. */
async function world(t: Test, url: string, options: Omit<WorldOptions, 'storage'> = {}) {
  const plain = await openStage(t, url);
  const media = await mediaWorld(t, { ...options, storage: plain.storage });
  const stage = await openStage(t, url, { media: media.media });
  const { tenantId, accountIds } = await makeTenant(stage);
  const session = new FakeSession(tenantId, accountIds[0] ?? '', stage.broker.processId);
  const list = () =>
    stage.storage.read.messages.list(tenantId, {
      direction: null,
      accountId: null,
      before: null,
      limit: 100,
    });
  const rows = () =>
    stage.storage.connections
      .read('media_files')
      .where({ tenant_id: tenantId })
      .orderBy('created_at')
      .pluck('state');
  const sweepNow = (keptMs: number, waitingMs: number) => {
    const { store, spool, log } = media;
    const retention = { keptMs, waitingMs };
    const parts = { storage: stage.storage, store, spool, retention, log };
    return sweep(parts, deletion, patient);
  };
  const deletion = new Deletion({ storage: stage.storage, store: media.store, log: media.log });
  return { ...media, stage, tenantId, session, list, rows, sweep: sweepNow };
}

for (const engine of databases) {
  t.test(`received, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const server = await mediaServer(t);
    // What asks the engine nothing of its own is played on one, as a long story is.
    const story = { skip: !storyDatabases('sqlite').some((one) => one.name === engine.name) };

    t.test('received media is kept with its message, once', async (t) => {
      const { stage, session, list, rows, files, store, media, tenantId } = await world(
        t,
        database.url,
      );
      const message = { ...inbound('n1'), media: pictureOpened() };
      await stage.part.receive(session, message);
      await stage.part.receive(session, { ...inbound('n1'), media: pictureOpened() });
      const [stored] = await list();
      const url = stored?.media?.url ?? '';
      const facts = { kind: 'image', mime_type: 'image/png', file_name: 'a.png' };
      t.same(stored?.media, { ...facts, url, size: picture.length });
      const key = url.slice('media:'.length);
      t.same(await files('kept'), [key]);
      t.same(await files('spool'), []);
      t.same(await rows(), [1]);
      const found = await stage.storage.read.media.find(key);
      t.match(found, {
        key,
        tenantId,
        mimeType: 'image/png',
        fileName: 'a.png',
        size: picture.length,
      });
      const bytes = await store.open({ key, tenantId }, { start: 0, end: picture.length - 1 });
      t.ok((await buffer(bytes ?? Readable.from([]))).equals(picture));
      t.match(new URL(media.mint(key)).pathname, `/v1/media/${key}`);
      await stage.run((unit) => unit.tenants.change(tenantId, { status: 'suspended' }));
      t.match(await stage.storage.read.media.find(key), { key });
      await stage.run((unit) => unit.tenants.change(tenantId, { status: 'deleted' }));
      t.equal(await stage.storage.read.media.find(key), null, 'not of a deleted tenant');
    });

    t.test('media is fetched from an address, or missing without one', async (t) => {
      const { stage, session, list, files } = await world(t, database.url);
      server.answer('/report', file('application/pdf', '%PDF-1.4 and so on'));
      const linked = { kind: 'document', mimeType: null, fileName: null, size: null } as const;
      const url = `${server.url}/report`;
      await stage.part.receive(session, { ...inbound('a'), media: { ...linked, url } });
      await stage.part.receive(session, { ...inbound('b'), media: { ...linked, url: null } });
      await stage.part.receive(session, {
        ...inbound('c'),
        media: { ...linked, url: 'http://127.0.0.2/inside' },
      });
      const [inside, nowhere, report] = await list();
      t.match(report?.media, {
        mime_type: 'application/pdf',
        file_name: 'report.pdf',
        url: /^media:/,
      });
      t.match([nowhere?.media, inside?.media], [{ url: null }, { url: null }]);
      t.equal((await files('kept')).length, 1);
    });

    t.test('a file that cannot be read loses and delays no message', story, async (t) => {
      const options = { timeoutMs: 200, maxBytes: 1_000 };
      const { stage, session, list, rows, files, lines } = await world(t, database.url, options);
      server.answer('/drip', drip());
      let late: Readable | undefined;
      const bad: readonly InboundMedia[] = [
        opened(() => Promise.reject(new Error('the network has lost it'))),
        opened(() => {
          throw new Error('a careless driver');
        }),
        opened(() => new Promise(() => undefined)),
        opened(async () => {
          await pause(300);
          late = new Readable({ read: () => undefined });
          return late;
        }),
        opened(async () => new Readable({ read: () => undefined })),
        opened(async () => {
          const broken = new Readable({ read: () => undefined });
          // Before the spool has its folder and reads.
          setImmediate(() => broken.destroy(new Error('the connection broke at once')));
          return broken;
        }),
        opened(async () => Readable.from([Buffer.alloc(1_001)])),
        opened(async () => Readable.from([])),
        opened(async () => Readable.from([picture]), { size: 1_001 }),
        opened(undefined, { url: `${server.url}/drip` }),
      ];
      const good = await world(t, database.url);
      const tookMs = async (one: Pick<typeof good, 'stage' | 'session'>, all: typeof bad) => {
        const startedAt = performance.now();
        for (const [n, media] of all.entries()) {
          await one.stage.part.receive(one.session, { ...inbound(`file ${n}`), media });
        }
        return performance.now() - startedAt;
      };
      const goodMs = await tookMs(good, bad.map(pictureOpened));
      await doneWithin(t, 4 * 200 + 2_000 + goodMs, 'all', () => tookMs({ stage, session }, bad));
      const messages = await list();
      t.equal(messages.length, bad.length);
      for (const { media } of messages) {
        t.match(media, { kind: 'image', url: null, file_name: 'a.png' });
      }
      t.equal(lines.length, bad.length, 'each has its line');
      const named = lines.filter((line) => JSON.parse(line).account === session.account.id);
      t.equal(named.length, bad.length, 'and names the account');
      t.notOk(lines.some((line) => line.includes(server.url)));
      t.same(await files('kept'), []);
      // Beside the answer: a file that was given up is deleted when its last write is over.
      await until('an empty spool', async () => (await files('spool')).length === 0 || undefined);
      await until('the late stream', () => late?.destroyed);
      t.equal((await rows()).filter((state) => state === 1).length, 0);
    });

    t.test('a file that fails for a while comes with its message', async (t) => {
      const { stage, session, list, files } = await world(t, database.url, { timeoutMs: 8_000 });
      let opens = 0;
      /** The failures in their order, then the picture. */
      const after = (...failures: NonNullable<InboundMedia['open']>[]): InboundMedia => {
        const left = [...failures];
        return opened(async (signal) => {
          opens += 1;
          return (await left.shift()?.(signal)) ?? Readable.from([picture]);
        });
      };
      const refuses = () => Promise.reject(new Error('503'));
      const breaks = async () => {
        const parts = (async function* () {
          yield picture.subarray(0, 10);
          throw new Error('the connection broke');
        })();
        return Readable.from(parts);
      };
      const hangs = () => new Promise<never>(() => undefined);
      const falls = async () => new Readable({ read: () => undefined });
      let asked = 0;
      server.answer('/flaky', (request, response) => {
        asked += 1;
        if (asked < 3) response.writeHead(503).end();
        else file('image/png', picture)(request, response);
      });
      const flaky = opened(undefined, { url: `${server.url}/flaky` });
      for (const media of [after(refuses, breaks, refuses), after(hangs), after(falls), flaky]) {
        await stage.part.receive(session, { ...inbound(`again ${opens} ${asked}`), media });
      }
      t.equal(opens, 8);
      t.equal(asked, 3);
      const whole = { kind: 'image', size: picture.length, url: /^media:/ };
      t.match(
        (await list()).map(({ media }) => media),
        [whole, whole, whole, whole],
      );
      t.equal((await files('kept')).length, 4);
    });

    t.test('a slow file of one contact delays nothing of another', story, async (t) => {
      const { stage, session, list } = await world(t, database.url);
      const begun: string[] = [];
      let release = (): void => undefined;
      const slow = opened(async () => {
        begun.push('slow');
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return Readable.from([picture]);
      });
      const quick = opened(async () => {
        begun.push('quick');
        return Readable.from([picture]);
      });
      const from = (phone: string) => ({ phone, networkId: null, name: null });
      const both = [
        stage.part.receive(session, { ...inbound('s'), from: from('+12025550131'), media: slow }),
        stage.part.receive(session, { ...inbound('q'), from: from('+12025550132'), media: quick }),
      ];
      await until('both files to be asked for', () => begun.length === 2 || undefined);
      const behind = { ...inbound('behind it'), from: from('+12025550131') };
      const last = stage.part.receive(session, behind);
      await both[1];
      const texts = async () => (await list()).map(({ text }) => text);
      t.same(await texts(), ['q']);
      release();
      await Promise.all([...both, last]);
      t.same(await texts(), ['behind it', 's', 'q'], 'the latest first');
    });

    t.test('a file is given up in the end, at once when its driver says so', story, async (t) => {
      const { stage, session, list, lines } = await world(t, database.url);
      let opens = 0;
      const failing = (error: Error) =>
        opened(async () => {
          opens += 1;
          throw error;
        });
      const deleted = new DriverError('media_unavailable', 'it is deleted', { certain: true });
      await stage.part.receive(session, { ...inbound('deleted'), media: failing(deleted) });
      t.equal(opens, 1);
      await stage.part.receive(session, { ...inbound('away'), media: failing(new Error('503')) });
      t.equal(opens, 1 + 4);
      t.match(
        (await list()).map(({ media }) => media?.url),
        [null, null],
      );
      t.equal(lines.length, 2, 'each has one line');
    });

    t.test(
      'media of private contacts is not kept, even when that is decided meanwhile',
      async (t) => {
        const { stage, session, list, rows, files, tenantId, sweep } = await world(t, database.url);
        await stage.part.receive(session, { ...inbound('first'), media: pictureOpened() });
        const contactId = (await list())[0]?.contactId ?? '';
        const flag = async (value: boolean) => {
          const [contact] = (await stage.storage.read.contacts.byIds([contactId])) as [Contact];
          await stage.run(async (unit) => {
            if (value) await forgetContact(unit, tenantId, contactId);
            await unit.contacts.save([{ ...contact, private: value }]);
          });
        };
        let opens = 0;
        const meanwhile = opened(async () => {
          opens += 1;
          await flag(true);
          return Readable.from([picture]);
        });
        await stage.part.receive(session, { ...inbound('second'), media: meanwhile });
        await stage.part.receive(session, { ...inbound('third'), media: meanwhile });
        t.equal(opens, 1, 'nothing of a private contact is opened');
        t.same(await list(), []);
        t.same(await rows(), [2, 2], 'the first with its message, the second without one');
        await sweep(1e9, 1e9);
        t.same(await files('kept'), []);
        t.same(await rows(), []);
      },
    );

    t.test('a message whose driver ends meanwhile comes again', async (t) => {
      const { stage, session, list, rows, files } = await world(t, database.url);
      const cut = opened(async () => {
        throw notConnected();
      });
      const received = stage.part.receive(session, { ...inbound('cut'), media: cut });
      await t.rejects(received, { code: 'not_connected', retryAfterMs: 0 });
      t.same([await list(), await rows(), await files('kept')], [[], [2], []]);
      await stage.part.receive(session, { ...inbound('cut'), media: pictureOpened() });
      t.equal((await files('kept')).length, 1, 'with its file');
    });

    t.test('media is kept for the configured time', async (t) => {
      const { stage, session, list, rows, files, sweep, media, tenantId, store } = await world(
        t,
        database.url,
      );
      for (const id of ['a', 'b']) {
        await stage.part.receive(session, { ...inbound(id), media: pictureOpened() });
      }
      const orphan = await media.take(pictureOpened(), tenantId, patient);
      t.equal((await files('kept')).length, 3);
      await sweep(60_000, 60_000);
      t.same((await rows()).sort(), [0, 1, 1], 'nothing is old enough');
      await pause(30);
      await sweep(60_000, 10);
      t.same(await rows(), [1, 1], 'the one without a message is gone');
      t.notOk((await files('kept')).includes(orphan?.key ?? ''));
      const { remove } = store;
      store.remove = async () => {
        throw new Error('the disk is away');
      };
      await sweep(10, 60_000);
      t.same(await rows(), [2, 2], 'what could not be deleted is not forgotten');
      store.remove = remove;
      await sweep(10, 60_000);
      t.same([await rows(), await files('kept')], [[], []]);
      const facts = { kind: 'image', mime_type: 'image/png', file_name: 'a.png' };
      for (const { media: left } of await list()) {
        t.same(left, { ...facts, url: null, size: picture.length }, 'the description stays');
      }
    });

    t.test('files that cannot be deleted hold up no others', async (t) => {
      const own = await world(t, database.url);
      const { media, stage, folder, lines, tenantId, files, rows } = own;
      // What is no file cannot be deleted as one.
      const stuck = async (count: number) => {
        for (let n = 0; n < count; n += 1) {
          const taken = await media.take(pictureOpened(), tenantId, patient);
          const path = join(
            folder,
            'kept',
            tenantId,
            (taken?.key ?? '').slice(0, 2),
            taken?.key ?? '',
          );
          await rm(path);
          await mkdir(path);
        }
      };
      await stuck(12);
      await media.take(pictureOpened(), tenantId, patient);
      await pause(2);
      await own.sweep(1e9, 0);
      t.same([await files('kept'), (await rows()).length], [[], 12], 'in the same sweep');
      const warnings = lines.filter((line) => line.includes('could not be deleted'));
      t.match(warnings, [/ERR_FS_EISDIR/], 'one line, with the reason');
      await stuck(60);
      await media.take(pictureOpened(), tenantId, patient);
      await pause(2);
      await own.sweep(1e9, 0);
      t.same([await files('kept'), (await rows()).length], [[], 72], 'behind any number of them');
      await media.take(pictureOpened(), tenantId, patient);
      await pause(2);
      await stage.storage.submit(retireLane, { keptMs: 1e9, waitingMs: 0 });
      const deletion = new Deletion({ storage: stage.storage, store: own.store, log: own.log });
      const tenant = { tenantId, contactId: null };
      const stuckReason = 'Error: a file is not deleted yet';
      t.equal(
        await deletion.of(tenant, patient).then(String),
        stuckReason,
        'they are not forgotten',
      );
      t.same([await files('kept'), (await rows()).length], [[], 72], 'nor those of one tenant');
      await rm(join(folder, 'kept'), { recursive: true });
      t.equal(await deletion.of(tenant, patient), null);
      t.same(await rows(), []);
    });

    t.test('what is deleted for one contact is asked of the store alone', async (t) => {
      const { stage, session, store, log, tenantId, rows } = await world(t, database.url);
      const { storage } = stage;
      for (const [id, phone] of [
        ['a', '+12025550131'],
        ['b', '+12025550132'],
        ['c', '+12025550132'],
      ] as const) {
        await stage.part.receive(session, { ...inbound(id, id, phone), media: pictureOpened() });
      }
      const files = await storage.connections
        .read('media_files as f')
        .join('messages as m', 'm.id', 'f.message_id')
        .where('m.tenant_id', tenantId)
        .orderBy('m.inbound_sequence')
        .select('f.id', 'f.contact_id', 'f.message_id', { of: 'm.contact_id' });
      for (const file of files) t.equal(file.contact_id, file.of, 'whose message brought it');
      const [a, b] = files;
      const asked: string[] = [];
      const { remove } = store;
      store.remove = async ({ key }) => {
        asked.push(key);
        throw Object.assign(new Error('locked'), { code: 'AccessDenied' });
      };
      const deletion = new Deletion({ storage, store, log });
      const of = (contactId: string) => deletion.of({ tenantId, contactId }, patient);
      await run(storage, (unit) => unit.media.giveUpOf([a.message_id, b.message_id]));
      t.match(await of(a.of), { cause: { code: 'AccessDenied' } });
      t.same(asked, [a.id]);
      await run(storage, (unit) => storeMerges(unit, new Map([[a.of, b.of]])));
      store.remove = remove;
      t.equal(await of(a.of), null, 'by the id that it had');
      t.same(await rows(), [1], 'what the merged contact gave up is gone, and nothing else');
    });

    t.test('the database is away, or the session ends', async (t) => {
      const { stage, session, list, rows, media } = await world(t, database.url);
      let opens = 0;
      const event = {
        ...inbound('x'),
        media: opened(async () => {
          opens += 1;
          return Readable.from([picture]);
        }),
      };
      const { lanes } = stage;
      const { receive } = lanes;
      lanes.receive = () => Promise.reject(new GatewayError('unavailable'));
      await t.rejects(stage.part.receive(session, event), { code: 'unavailable' });
      lanes.receive = receive;
      await stage.part.receive(session, event);
      t.equal(opens, 1, 'what was opened is kept');
      t.match((await list())[0], { media: { url: /^media:/ } });
      t.same(await rows(), [1]);

      const fenced = { ...event, networkId: 'y' };
      lanes.receive = async () => 'lost';
      await t.rejects(stage.part.receive(session, fenced), /has lost its account/);
      lanes.receive = receive;
      t.same((await rows()).sort(), [1, 2], 'its file is given up');
      const hanging = { ...inbound('z'), media: opened(() => new Promise(() => undefined)) };
      const receiving = stage.part.receive(session, hanging);
      await pause(20);
      session.end();
      await t.rejects(receiving, 'it comes again');
      t.equal((await list()).length, 1);

      const swept = await media.take(pictureOpened(), session.account.tenantId, patient);
      await media.discard(swept ?? { key: '', tenantId: '' });
      const input = { fence: session.fence, tenantId: session.account.tenantId };
      const line = new ArrivalLine();
      const unkept = { ...inbound('w'), media: pictureOpened() };
      line.enter(unkept);
      const output = await lanes.receive({
        ...input,
        channel: 'msgapp_web',
        line,
        event: unkept,
        trace: null,
        taken: swept,
      });
      t.equal(output, 'stored');
      t.match((await list())[0], { text: 'w', media: { url: null } }, 'its file had gone');
    });
  });
}

t.test('a spool that cannot be cleared holds up no other sweep', async (t) => {
  const database = await engines.sqlite.create(t);
  const own = await world(t, database.url);
  await own.media.take(pictureOpened(), own.tenantId, patient);
  await pause(2);
  own.spool.sweep = async () => new Error('the folder is locked');
  await own.sweep(1e9, 0);
  t.same([await own.rows(), await own.files('kept')], [[], []]);
  t.match(own.lines, [/the folder is locked/]);
});

t.test('what opens no stream is named, and a late answer ends nothing', async (t) => {
  const database = await engines.sqlite.create(t);
  const own = await world(t, database.url, { timeoutMs: 200 });
  const answering = (value: unknown) => opened((() => value) as NonNullable<InboundMedia['open']>);
  for (const wrong of [undefined, null, {}, 'bytes', Promise.resolve(undefined)]) {
    own.lines.length = 0;
    t.equal(await own.media.take(answering(wrong), own.tenantId, patient), null);
    t.match(own.lines, [/"type":"TypeError","message":"media\.open /]);
  }
  let stopped = 0;
  const broken = new Readable({
    read: () => undefined,
    destroy(_, done) {
      stopped += 1;
      done(new Error('the connection was gone already'));
    },
  });
  for (const late of [undefined, {}, broken]) {
    let answer = (): void => undefined;
    const hangs = new Promise<unknown>((resolve) => {
      answer = () => resolve(late);
    });
    t.equal(await own.media.take(answering(hangs), own.tenantId, patient), null);
    answer();
    await hangs;
  }
  await until('the late stream', () => broken.closed);
  t.equal(stopped, 1);
});

t.test('a file may wait for others longer than a timer can', async (t) => {
  const database = await engines.sqlite.create(t);
  const { media, tenantId, rows } = await world(t, database.url, { timeoutMs: 1_000_000_000 });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = opened(async () => {
    await released;
    return Readable.from([picture]);
  });
  const taken = [1, 2, 3, 4].map(() => media.take(slow, tenantId, patient));
  taken.push(media.take(pictureOpened(), tenantId, patient));
  await until('the files that are fetched', async () => (await rows()).length === 4 || undefined);
  release();
  t.match(
    await Promise.all(taken),
    taken.map(() => ({ size: picture.length })),
  );
});

t.test('a file that waits for others is not late', async (t) => {
  const database = await engines.sqlite.create(t);
  const server = await mediaServer(t);
  const timeoutMs = 1_000;
  const { media, tenantId, rows, lines } = await world(t, database.url, { timeoutMs });
  server.answer('/drip', drip());
  const take = (file: InboundMedia, signal = patient) => media.take(file, tenantId, signal);
  const begunAt = performance.now();
  // Twice as many as one tenant may have fetched at once: the last ones begin when the first are given up.
  const endless = opened(undefined, { url: `${server.url}/drip` });
  const dripping = Array.from({ length: 8 }, () => take(endless));
  const good = take(pictureOpened());
  const session = new AbortController();
  const ended = take(pictureOpened(), session.signal);
  await until('the files that are fetched', async () => (await rows()).length === 4 || undefined);
  session.abort();
  t.equal(await ended, null, 'a wait ends with its session');
  t.equal((await rows()).length, 4, 'no row of one that waits grows old');
  t.match(await good, { size: picture.length });
  t.ok(performance.now() - begunAt > timeoutMs, 'it began after all the time that one file has');
  t.same(
    await Promise.all(dripping),
    dripping.map(() => null),
  );
  t.equal(lines.length, 8);
});

t.test('slow files wait for each other, but not without end', async (t) => {
  const database = await engines.sqlite.create(t);
  const timeoutMs = 2_000;
  const patiently = await world(t, database.url, { timeoutMs });
  const slow = opened(async () => {
    const parts = (async function* () {
      for (const byte of picture.subarray(0, 5)) {
        await pause(timeoutMs / 20);
        yield Buffer.of(byte);
      }
      yield picture.subarray(5);
    })();
    return Readable.from(parts);
  });
  // Four at once: the last ones wait for twice as long as one may take.
  const slowly = Array.from({ length: 36 }, () => slow);
  const taken = slowly.map((file) => patiently.media.take(file, patiently.tenantId, patient));
  t.match(
    await Promise.all(taken),
    slowly.map(() => ({ size: picture.length })),
  );

  const server = await mediaServer(t);
  server.answer('/drip', drip());
  const hung = await world(t, database.url, { timeoutMs: 200 });
  const endless = opened(undefined, { url: `${server.url}/drip` });
  const dripping = Array.from({ length: 24 }, () =>
    hung.media.take(endless, hung.tenantId, patient),
  );
  let opens = 0;
  const behind = opened(async () => {
    opens += 1;
    return Readable.from([picture]);
  });
  // Behind six times four, each of which has its whole time.
  t.equal(await hung.media.take(behind, hung.tenantId, patient), null);
  t.equal(opens, 0, 'nobody was asked for it');
  await Promise.all(dripping);
  const reasons = (reason: RegExp) => hung.lines.filter((line) => reason.test(line)).length;
  const late = reasons(/not there within 0.2 s/);
  t.ok(late >= 8, `${late} were fetched in vain`);
  t.equal(reasons(/waited 1 s for other files/), 25 - late, 'the log names the reason');
});

t.test('an S3 bucket keeps, serves and deletes files', async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings);
  t.teardown(() => store.close());
  const database = await engines.sqlite.create(t);
  const own = await world(t, database.url, { store });
  const { stage, session, list, files, tenantId, rows, sweep } = own;
  await stage.part.receive(session, { ...inbound('n1'), media: pictureOpened() });
  const [message] = await list();
  const key = message?.media?.url?.replace(mediaReference(''), '') ?? '';
  t.same([...s3.objects.keys()], [`/a-bucket/media/${tenantId}/${key}`]);
  t.same(await files('spool'), []);
  const part = await store.open({ key, tenantId }, { start: 1, end: 3 });
  t.equal((await buffer(part ?? Readable.from([]))).toString(), 'PNG');
  t.equal(await store.open({ key: '0'.repeat(32), tenantId }, { start: 0, end: 1 }), null);
  await t.rejects(store.open({ key: '../up', tenantId }, { start: 0, end: 1 }));
  s3.away = true;
  await stage.part.receive(session, { ...inbound('n2'), media: pictureOpened() });
  t.match((await list())[0], { text: 'n2', media: { url: null } }, 'a store that is away');
  s3.away = false;
  await sweep(0, 1e9);
  t.same([await rows(), s3.objects.size], [[0, 0, 0, 0], 0], 'each upload may still end');
  const uploads = await stage.storage.connections.read('media_files').pluck('id');
  const late = `/a-bucket/media/${tenantId}/${uploads[0]}`;
  s3.objects.set(late, picture);
  await sweep(0, -1);
  t.same([await rows(), [...s3.objects.keys()]], [[], []], 'one that ends late is deleted too');
});

t.test('the folder store refuses locations outside its folder', async (t) => {
  const { store, media } = await mediaWorld(t);
  const range = { start: 0, end: 1 };
  const key = '0'.repeat(32);
  for (const location of [
    { key: '../../../etc/passwd', tenantId: 'ten_a' },
    { key: `${key}/..`, tenantId: 'ten_a' },
    { key, tenantId: '..' },
  ]) {
    await t.rejects(store.open(location, range), /not a location/);
    await t.rejects(store.remove(location), /not a location/);
    await t.rejects(store.put(location, '/etc/hostname'), /not a location/);
  }
  t.equal(await store.open({ key, tenantId: 'ten_a' }, range), null);
  await store.remove({ key, tenantId: 'ten_a' });
  await media.discard({ key, tenantId: 'ten_a' });
});

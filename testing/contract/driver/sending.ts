import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { DriverError, type DriverEvent, type MediaFile } from '../../../core/contracts/driver.ts';
import { type Bench, patient, type Skip } from './bench.ts';

const neverAgain =
  'a send to a new contact that the restriction refuses is final, and no message waits: retryAfterMs is null';

/** Sending, its failures, and receipts. */
export async function sending(t: Test, bench: Bench): Promise<void> {
  const { world, capabilities } = bench;

  await bench.clause(t, 'sends in order', false, async (t) => {
    const { account, session } = await bench.linked();
    const startedAt = Date.now();
    const texts: string[] = [];
    const ids: string[] = [];
    for (let number = 0; number < 25; number += 1) {
      const message = await bench.message(account, `msg_order_${number}`);
      const { networkId, at } = await session.send(message, patient());
      texts.push(message.text);
      ids.push(networkId);
      t.ok(Math.abs(at - startedAt) < 60_000, 'milliseconds since the epoch');
    }
    const shown = await world.shown(account);
    t.same(
      shown.map(({ text }) => text),
      texts,
    );
    t.same(
      shown.map(({ networkId }, n) => networkId ?? ids[n]),
      ids,
    );
    t.equal(new Set(ids).size, ids.length);
  });

  await bench.clause(
    t,
    'is refused for certain where it surely did not happen',
    false,
    async (t) => {
      const { account, session, port } = await bench.linked();
      const message = await bench.message(account, 'msg_refused');
      await world.treatSends(account, 'refuse');
      const refused = await failure(session.send(message, patient()));
      t.match(refused, { certain: true });
      t.match(refused.code, /^[a-z][a-z0-9_]*$/);
      await world.treatSends(account, 'accept');
      t.match(await failure(session.send(message, AbortSignal.abort())), { certain: true });
      await world.drop(account);
      await port.state('lost');
      t.match(await failure(session.send(message, patient())), { certain: true });
      t.same(await world.shown(account), []);
      const { session: unlinked } = await bench.open();
      t.match(await failure(unlinked.send(message, patient())), { certain: true });
    },
  );

  await bench.clause(t, 'what was under way at an end is uncertain', false, async (t) => {
    for (const end of ['broken', 'closed'] as const) {
      const { account, session } = await bench.linked();
      await world.treatSends(account, 'hold');
      const message = await bench.message(account, `msg_${end}`);
      const held = failure(session.send(message, patient()));
      await shownSome(bench, account);
      if (end === 'closed') session.close();
      else await world.drop(account);
      t.match(await held, { certain: false }, `the network has it, and the connection is ${end}`);
    }
  });

  const deduplicates: Skip = capabilities.deduplicates ? false : 'deduplicates is false';
  await bench.clause(t, 'repeats an uncertain send, shown once', deduplicates, async (t) => {
    const { account, session, port } = await bench.linked();
    const message = await bench.message(account, 'msg_uncertain');
    await world.treatSends(account, 'hold');
    const held = failure(session.send(message, patient()));
    await shownSome(bench, account);
    await world.drop(account);
    t.match(await held, { certain: false });
    await port.state('lost');
    await world.treatSends(account, 'accept');
    await session.resume();
    await port.state('connected');
    const { networkId } = await session.send({ ...message, attempt: 2 }, patient());
    await session.send(await bench.message(account, 'msg_after'), patient());
    const again = await session.send({ ...message, attempt: 3 }, patient());
    t.equal(again.networkId, networkId);
    t.same(
      (await world.shown(account)).map(({ text }) => text),
      [message.text, 'text of msg_after'],
    );
  });

  await bench.clause(t, 'gives up once its signal aborts', false, async (t) => {
    const { account, session } = await bench.linked();
    await world.treatSends(account, 'hold');
    const giveUp = new AbortController();
    const message = await bench.message(account, 'msg_given_up');
    const held = failure(session.send(message, giveUp.signal));
    await shownSome(bench, account);
    giveUp.abort();
    t.match(await held, { certain: false });
    const second = failure(session.send(await bench.message(account, 'msg_closed'), patient()));
    session.close();
    t.type(await second, DriverError, 'closing ends a send too');
  });

  const receipts: Skip = capabilities.receipts === 'none' ? 'receipts is none' : false;
  await bench.clause(t, 'reports how far a message got', receipts, async (t) => {
    const opened = await bench.linked();
    const { account, port, session } = opened;
    const reference = 'msg_receipts';
    const { networkId } = await session.send(await bench.message(account, reference), patient());
    const { receipts: furthest, readsOnly } = capabilities;
    const statuses = (['delivered', 'read'] as const).filter((one) =>
      one === 'read' ? furthest === 'read' : readsOnly !== true,
    );
    for (const status of statuses) {
      await world.report(account, { reference, networkId }, status);
      const receipt = await port.receipt();
      t.equal(receipt.status, status);
      t.ok(receipt.reference === reference || receipt.networkId === networkId);
      t.ok(receipt.reference === null || receipt.reference === reference);
      t.ok(receipt.networkId === null || receipt.networkId === networkId);
      t.equal(receipt.error, null);
    }
    if (world.reportsFailures === false) return;
    const failing = 'msg_failing';
    const sent = await session.send(await bench.message(account, failing), patient());
    await world.report(account, { reference: failing, networkId: sent.networkId }, 'failed');
    const { status, error } = await port.receipt();
    t.equal(status, 'failed');
    t.ok(error === null || typeof error === 'string', 'why is a text, or null where nobody knows');
  });

  await bench.clause(
    t,
    'a receipt that was not kept comes again',
    receipts || bench.nothingKept,
    async (t) => {
      const opened = await bench.linked();
      const { account, port, session } = opened;
      const reference = 'msg_receipt_again';
      const { networkId } = await session.send(await bench.message(account, reference), patient());
      port.onEmit = async ({ type }) => {
        if (type === 'receipt') throw new Error('the database is away');
      };
      const status = capabilities.receipts === 'read' ? 'read' : 'delivered';
      await world.report(account, { reference, networkId }, status);
      await port.receipt();
      await bench.quiet();
      const { port: later } = await bench.resumed(opened);
      t.match(await later.receipt(), { status });
    },
  );

  await bench.clause(
    t,
    'a receipt that was not kept comes again behind another',
    receipts || bench.nothingKept,
    async (t) => {
      const opened = await bench.linked();
      const { account, port, session } = opened;
      const [first, second] = ['msg_receipt_lost', 'msg_receipt_kept'];
      const { networkId } = await session.send(await bench.message(account, first), patient());
      const sent = await session.send(await bench.message(account, second), patient());
      const isFirst = (event: DriverEvent) =>
        event.type === 'receipt' && (event.reference === first || event.networkId === networkId);
      port.onEmit = async (event) => {
        if (isFirst(event)) throw new Error('the database is away');
      };
      const status = capabilities.receipts === 'read' ? 'read' : 'delivered';
      await world.report(account, { reference: first, networkId }, status);
      await world.report(account, { reference: second, networkId: sent.networkId }, status);
      await port.receipt();
      await bench.settled(opened);
      const { port: later } = await bench.resumed(opened);
      while (!isFirst(await later.receipt()));
      t.pass('not acknowledged with what was kept behind it');
    },
  );

  await bench.clause(
    t,
    'a restriction stops sends until it is lifted',
    bench.noRestrictions,
    async (t) => {
      const { account, port, session } = await bench.linked();
      const message = await bench.message(account, 'msg_restricted');
      await world.restrict(account, 'all');
      t.match(await port.state('restricted'), { scope: 'all' });
      t.match(await failure(session.send(message, patient())), { certain: true });
      await world.lift(account);
      await port.state('unrestricted');
      await session.send(message, patient());
      await world.restrict(account, 'new_contacts');
      const known = await bench.message(account, 'msg_known');
      await session.send(known, patient());
      const to = await world.contact(account, 2);
      const unknown = { ...message, reference: 'msg_new', to };
      const refused = await failure(session.send(unknown, patient()));
      t.match(refused, { certain: true });
      t.equal(refused.retryAfterMs, null, neverAgain);
      // At the latest now: some networks tell of it only by refusing.
      t.match(await port.state('restricted'), { scope: 'new_contacts' });
      t.same(
        (await world.shown(account)).map(({ text }) => text),
        [message.text, known.text],
      );
    },
  );

  await bench.clause(
    t,
    'carries media',
    capabilities.media ? false : 'media is false',
    async (t) => {
      const { account, port, session } = await bench.linked();
      const message = await bench.message(account, 'msg_media');
      const media = { url: 'https://example.com/picture.jpg' };
      const gone = failure(session.send({ ...message, media }, patient()));
      t.match(await gone, { code: 'media_unavailable', certain: true });
      port.media.set(media.url, picture(t));
      t.type((await session.send({ ...message, media }, patient())).networkId, 'string');
      t.match(await world.shown(account), [{ text: message.text, hasFile: true }]);
    },
  );
}

/** A file as the gateway fetches it: kept under a name that says nothing. */
function picture(t: Test): MediaFile {
  const bytes = Buffer.from('not much of a picture');
  const path = join(t.testdir({ spooled: bytes }), 'spooled');
  return {
    kind: 'image',
    mimeType: 'image/jpeg',
    fileName: 'picture.jpg',
    size: bytes.length,
    stream: () => createReadStream(path),
  };
}

/** What a send fails with. */
async function failure(send: Promise<unknown>): Promise<DriverError> {
  try {
    await send;
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
  throw new Error(
    'the send succeeded, but had to reject: did the world do what was asked of it before?',
  );
}

/** Waits until the network has taken a message. */
async function shownSome(bench: Bench, account: Parameters<Bench['world']['shown']>[0]) {
  await bench.until('a message shown', async () => (await bench.world.shown(account)).length > 0);
}

import type { Test } from 'tap';
import type {
  ContactAddress,
  ContactsEvent,
  DriverEvent,
  HistoryEvent,
  MessageEvent,
} from '../../../core/contracts/driver.ts';
import type { Bench, Opened, Skip } from './bench.ts';

/** Receiving messages, contacts and history. */
export async function receiving(t: Test, bench: Bench): Promise<void> {
  const { world, capabilities } = bench;

  async function write({ account }: Opened, text: string, more: object = {}) {
    bench.log.forbid(text);
    const from = await world.contact(account, 1);
    return await world.write(account, { from, name: 'Ada', text, ...more });
  }

  await bench.clause(t, 'hands over what contacts write', false, async (t) => {
    const opened = await bench.linked();
    const networkId = await write(opened, 'the first inbound text');
    const message = await opened.port.message();
    t.match(message, { networkId: networkId ?? /./, text: 'the first inbound text', media: null });
    t.ok(Math.abs(message.at - Date.now()) < 60_000, 'milliseconds since the epoch');
    t.ok(isSame(message.from, await world.contact(opened.account, 1)));
    if (!capabilities.media) return;
    await write(opened, 'a caption', { mediaUrl: 'https://example.com/picture.jpg' });
    const captioned = await opened.port.message();
    t.match(captioned, { text: 'a caption', media: { kind: 'image' } });
    const { url, open } = captioned.media ?? {};
    t.ok(
      typeof open === 'function' || typeof url === 'string',
      'the medium has a url, or can be opened',
    );
  });

  await bench.clause(t, 'every message has an id of its own', false, async (t) => {
    const linked = await bench.linked();
    const texts = new Map<string, string>();
    const hear = async (opened: Opened, last: string): Promise<void> => {
      let heard = '';
      const next = async (): Promise<void> => {
        const { text, networkId } = await opened.port.message();
        texts.set(networkId, text);
        heard = text;
      };
      // One after the other: what is acknowledged before the restart does not come again after it.
      for (const text of ['word for word', 'word for word', last]) {
        await write(opened, text);
        await next();
      }
      while (heard !== last) await next();
    };
    await hear(linked, 'before the restart');
    const later = await bench.restarted(linked);
    await later.session.resume();
    await later.port.state('connected');
    await hear(later, 'after the restart');
    const equal = [...texts.values()].filter((text) => text === 'word for word');
    t.equal(equal.length, 4, 'equal texts are no repeats');
  });

  const noKinds: Skip = world.writeKind === null ? 'the network has text and media only' : false;
  await bench.clause(t, 'what is no text is a line in brackets', noKinds, async (t) => {
    const { account, port } = await bench.linked();
    const from = await world.contact(account, 1);
    for (const [kind, text] of [
      ['location', '[location: 52.5200, 13.4050]'],
      ['contact', '[contact: Ben, +12025550177]'],
      ['poll', '[poll: Lunch? · Pizza · Sushi]'],
    ] as const) {
      const networkId = await world.writeKind?.(account, kind, from);
      t.match(await port.message(), { networkId, text, media: null });
    }
    await world.writeKind?.(account, 'reaction', from);
    await world.write(account, { from, name: 'Ada', text: 'behind it' });
    bench.log.forbid('behind it');
    t.match(await port.message(), { text: 'behind it' });
    t.same(port.left, ['reaction'], 'no message, and counted');
  });

  await bench.clause(t, 'acknowledges only what is durable', bench.nothingKept, async (t) => {
    const opened = await bench.linked();
    const { port, account } = opened;
    let keep: () => void = () => undefined;
    const kept = new Promise<void>((resolve) => {
      keep = resolve;
    });
    port.onEmit = ({ type }) => (type === 'message' ? kept : Promise.resolve());
    const written = await write(opened, 'kept too late');
    const offered = await port.message();
    const networkId = written ?? offered.networkId;
    await world.drop(account);
    await port.state('lost');
    keep();
    port.onEmit = async () => undefined;
    await opened.session.resume();
    t.match(await port.message(), { networkId }, 'not acknowledged: offered again');
    const known = async (of: Opened, last: string) => {
      await write(of, last);
      while ((await of.port.message()).text !== last);
      await bench.settled(of);
    };
    await known(opened, 'behind it');
    const later = await bench.resumed(opened);
    await known(later, 'behind all');
    const again = later.port.events.filter(isMessage).map(({ text }) => text);
    t.notOk(again.includes('kept too late'), 'acknowledged: not offered again');
  });

  await bench.clause(t, 'what could not be kept comes again', bench.nothingKept, async (t) => {
    const opened = await bench.linked();
    opened.port.onEmit = async ({ type }) => {
      if (type === 'message') throw new Error('the database is away');
    };
    const texts = ['not kept, one', 'not kept, two'];
    const ids = [await write(opened, 'not kept, one'), await write(opened, 'not kept, two')];
    await opened.port.message();
    await bench.quiet();
    const { port } = await bench.resumed(opened);
    const again = [await port.message(), await port.message()];
    t.same(again.map(textOf), texts);
    for (const [n, { networkId, text }] of again.entries()) {
      const first = opened.port.events.filter(isMessage).find((offer) => offer.text === text);
      t.equal(networkId, ids[n] ?? first?.networkId ?? networkId);
    }
  });

  const behind = 'what was not kept comes again behind another';
  await bench.clause(t, behind, bench.nothingKept, async (t) => {
    const opened = await bench.linked();
    opened.port.onEmit = async (event) => {
      if (isMessage(event) && event.text === 'not kept') throw new Error('its file is away');
    };
    await write(opened, 'not kept');
    await write(opened, 'kept behind it');
    await opened.port.message();
    // Kept behind it, or held back until the first is kept: both are right.
    await bench.settled(opened);
    const { port } = await bench.resumed(opened);
    while ((await port.message()).text !== 'not kept');
    t.pass('not acknowledged with what was kept behind it');
  });

  await bench.clause(t, 'a repeated message keeps its id', bench.nothingKept, async (t) => {
    const opened = await bench.linked();
    const networkId = await write(opened, 'said twice');
    if (networkId === null) {
      t.comment('skipped: the network gives messages no ids to repeat');
      return;
    }
    await write(opened, 'said twice', { networkId });
    await write(opened, 'and on');
    let message = await opened.port.message();
    t.equal(message.networkId, networkId);
    while (message.text === 'said twice') {
      t.equal(message.networkId, networkId);
      message = await opened.port.message();
    }
    t.equal(message.text, 'and on');
  });

  await bench.clause(
    t,
    'what was written while away comes later, in order',
    bench.nothingKept,
    async (t) => {
      const away = await bench.reopened(await bench.linked());
      const ids: (string | null)[] = [];
      for (let number = 0; number < 20; number += 1) ids.push(await write(away, `away ${number}`));
      await away.session.resume();
      await away.port.state('connected');
      const received: MessageEvent[] = [];
      while (received.length < ids.length) received.push(await away.port.message());
      t.same(
        received.map(textOf),
        ids.map((_, number) => `away ${number}`),
      );
      t.same(
        received.map(({ networkId }) => networkId),
        received.map(({ networkId }, number) => ids[number] ?? networkId),
      );
    },
  );

  const noMoves: Skip = world.move === undefined ? "contacts' addresses stay as they are" : false;
  await bench.clause(t, 'a contact who changes the address', noMoves, async (t) => {
    const opened = await bench.linked();
    const { account, port } = opened;
    await write(opened, 'under the first address');
    const { networkId: formerly } = (await port.message()).from;
    const { networkId } = (await world.move?.(account, 1)) ?? {};
    const event = await port.next('address', (event) => event.type === 'address');
    t.match(event, { formerly, networkId });
    await write(opened, 'under the second address');
    t.equal((await port.message()).from.networkId, networkId);
  });

  await bench.clause(t, 'imports what it is asked for', false, async (t) => {
    const { imports, recipients } = capabilities;
    const account = await world.account();
    const [ada, ben] = [await world.contact(account, 1), await world.contact(account, 2)];
    // Networks keep whole seconds.
    const at = Math.floor(Date.now() / 1_000) * 1_000 - 86_400_000;
    const past = {
      contacts: [
        { contact: ada, name: 'Ada' },
        { contact: ben, name: 'Ben' },
      ],
      history: [{ from: ada, text: 'long ago', at }],
    };
    bench.log.forbid('long ago');
    await world.setPast(account, past);
    const bare = await bench.linked(account);
    await bench.quiet();
    const unasked = bare.port.events.map(({ type }) => type);
    t.notOk(unasked.includes('history'));
    if (recipients !== 'contacts') t.notOk(unasked.includes('contacts'));
    // At most one session an account is open.
    bare.session.close();
    const asked = { importContacts: imports.contacts, importHistory: imports.history };
    const { port } = await bench.linked(account, asked);
    const wanted = new Set<PastEvent['type']>();
    if (imports.contacts || recipients === 'contacts') wanted.add('contacts');
    if (imports.history) wanted.add('history');
    const isWanted = (event: DriverEvent): event is PastEvent =>
      isPast(event) && wanted.has(event.type);
    // The contract names no order of the two.
    while (wanted.size > 0) {
      const event = await port.next([...wanted].join(' and no '), isWanted);
      wanted.delete(event.type);
      if (event.type === 'contacts') {
        for (const { contact, name } of past.contacts) {
          t.ok(event.contacts.some((known) => isSame(known, contact) && known.name === name));
        }
      } else {
        const { messages } = event;
        t.match(messages, [{ direction: 'inbound', text: 'long ago', at }]);
        t.equal(messages.length, 1);
        t.ok(messages.every(({ contact }) => isSame(contact, ada)));
      }
    }
  });
}

/** What is imported. */
type PastEvent = ContactsEvent | HistoryEvent;

function isPast(event: DriverEvent): event is PastEvent {
  return event.type === 'contacts' || event.type === 'history';
}

function isMessage(event: DriverEvent): event is MessageEvent {
  return event.type === 'message';
}

function textOf({ text }: MessageEvent): string {
  return text;
}

/** Whether two name one person: by phone, by network id, or by both, and disagree in none that both know. */
function isSame(one: ContactAddress, other: ContactAddress): boolean {
  const shared = (['phone', 'networkId'] as const).filter(
    (kind) => one[kind] !== null && other[kind] !== null,
  );
  return shared.length > 0 && shared.every((kind) => one[kind] === other[kind]);
}

import { createRequire } from 'node:module';
import { Long, type tl } from '@mtcute/core';
import t from 'tap';
import type { LeftOutKind } from '../../../core/contracts/driver.ts';
import { inboundTextOf } from '../../../drivers/chatapp/updates/inbound-text.ts';
import { until } from '../../harness/story.ts';
import { friend, startBench } from './bench.ts';
import { plain, type TlObject } from './network/tl.ts';

const geo: tl.RawGeoPoint = { _: 'geoPoint', lat: 52.52, long: 13.405, accessHash: Long.ZERO };
const nowhere: tl.RawGeoPointEmpty = { _: 'geoPointEmpty' };
const peer: tl.RawPeerUser = { _: 'peerUser', userId: 1 };
const words = (text: string): tl.RawTextWithEntities => ({
  _: 'textWithEntities',
  text,
  entities: [],
});
const answer = (text: string): tl.RawPollAnswer => ({
  _: 'pollAnswer',
  text: words(text),
  option: new Uint8Array(1),
});
const preview: tl.RawMessageExtendedMediaPreview = { _: 'messageExtendedMediaPreview' };
const place = { provider: '', venueId: '', venueType: '' };
const reward = { quantity: 1, untilDate: 1 };

type Kind = tl.TypeMessageMedia['_'];
type Samples = {
  readonly [Name in Kind]: readonly (readonly [
    Extract<tl.TypeMessageMedia, { _: Name }>,
    string,
  ])[];
};

/** Every kind of media that the protocol knows, and what a message with nothing else reads. */
const samples: Samples = {
  messageMediaEmpty: [[{ _: 'messageMediaEmpty' }, '[unsupported: empty message]']],
  messageMediaUnsupported: [
    [{ _: 'messageMediaUnsupported' }, '[unsupported: message of a newer kind]'],
  ],
  messageMediaPhoto: [[{ _: 'messageMediaPhoto' }, '[unsupported: photo that has expired]']],
  messageMediaDocument: [
    [{ _: 'messageMediaDocument' }, '[unsupported: file that has expired]'],
    [{ _: 'messageMediaDocument', video: true }, '[unsupported: video that has expired]'],
    [
      { _: 'messageMediaDocument', video: true, round: true },
      '[unsupported: video note that has expired]',
    ],
    [{ _: 'messageMediaDocument', voice: true }, '[unsupported: voice message that has expired]'],
  ],
  messageMediaGeo: [
    [{ _: 'messageMediaGeo', geo }, '[location: 52.5200, 13.4050]'],
    [{ _: 'messageMediaGeo', geo: nowhere }, '[unsupported: location that is not shown]'],
  ],
  messageMediaGeoLive: [
    [{ _: 'messageMediaGeoLive', geo, period: 60 }, '[location: 52.5200, 13.4050, live location]'],
  ],
  messageMediaVenue: [
    [
      { _: 'messageMediaVenue', geo, title: 'Alexanderplatz', address: 'Berlin', ...place },
      '[location: 52.5200, 13.4050, Alexanderplatz]',
    ],
    [
      { _: 'messageMediaVenue', geo, title: '', address: 'Berlin', ...place },
      '[location: 52.5200, 13.4050, Berlin]',
    ],
  ],
  messageMediaContact: [
    [
      {
        _: 'messageMediaContact',
        phoneNumber: '12025550123',
        firstName: 'Ada',
        lastName: 'Lovelace',
        vcard: '',
        userId: 0,
      },
      '[contact: Ada Lovelace, +12025550123]',
    ],
  ],
  messageMediaPoll: [
    [
      {
        _: 'messageMediaPoll',
        poll: {
          _: 'poll',
          id: Long.ONE,
          question: words('Lunch?'),
          answers: [answer('Pizza'), answer('Sushi')],
          hash: Long.ZERO,
        },
        results: { _: 'pollResults' },
      },
      '[poll: Lunch? · Pizza · Sushi]',
    ],
  ],
  messageMediaWebPage: [
    [
      {
        _: 'messageMediaWebPage',
        webpage: { _: 'webPageEmpty', id: Long.ONE, url: 'https://example.com/' },
      },
      'https://example.com/',
    ],
    [
      { _: 'messageMediaWebPage', webpage: { _: 'webPageEmpty', id: Long.ONE } },
      '[unsupported: link preview]',
    ],
  ],
  messageMediaGame: [
    [
      {
        _: 'messageMediaGame',
        game: {
          _: 'game',
          id: Long.ONE,
          accessHash: Long.ONE,
          shortName: 'chess',
          title: 'Chess',
          description: '',
          photo: { _: 'photoEmpty', id: Long.ONE },
        },
      },
      '[unsupported: game]',
    ],
  ],
  messageMediaInvoice: [
    [
      {
        _: 'messageMediaInvoice',
        title: 'Book',
        description: '',
        currency: 'EUR',
        totalAmount: Long.ONE,
        startParam: '',
      },
      '[unsupported: invoice]',
    ],
  ],
  messageMediaDice: [[{ _: 'messageMediaDice', value: 4, emoticon: '🎲' }, '[unsupported: dice]']],
  messageMediaStory: [[{ _: 'messageMediaStory', peer, id: 1 }, '[unsupported: story]']],
  messageMediaGiveaway: [
    [{ _: 'messageMediaGiveaway', channels: [1], ...reward }, '[unsupported: giveaway]'],
  ],
  messageMediaGiveawayResults: [
    [
      {
        _: 'messageMediaGiveawayResults',
        channelId: Long.ONE,
        launchMsgId: 1,
        winnersCount: 1,
        unclaimedCount: 0,
        winners: [],
        untilDate: 1,
      },
      '[unsupported: giveaway results]',
    ],
  ],
  messageMediaPaidMedia: [
    [
      { _: 'messageMediaPaidMedia', starsAmount: Long.ONE, extendedMedia: [preview] },
      '[unsupported: paid media]',
    ],
  ],
  messageMediaToDo: [
    [
      { _: 'messageMediaToDo', todo: { _: 'todoList', title: words('Trip'), list: [] } },
      '[unsupported: todo list]',
    ],
  ],
  messageMediaVideoStream: [
    [
      {
        _: 'messageMediaVideoStream',
        call: { _: 'inputGroupCall', id: Long.ONE, accessHash: Long.ONE },
      },
      '[unsupported: video stream]',
    ],
  ],
};

t.test('every kind of message that the protocol knows has a text', async (t) => {
  const { e: entries } = createRequire(import.meta.url)('@mtcute/core/tl/api-schema.json') as {
    readonly e: readonly { kind: string; type: string; name: string }[];
  };
  const kinds = entries.flatMap(({ kind, type, name }) =>
    kind === 'class' && type === 'MessageMedia' ? [name] : [],
  );
  t.same([...kinds].sort(), Object.keys(samples).sort(), 'one that is new needs its own line');
  for (const ofKind of Object.values(samples)) {
    for (const [media, text] of ofKind) {
      t.equal(inboundTextOf({ message: '', media }, false), text, media._);
      t.equal(
        inboundTextOf({ message: 'as typed', media }, false),
        'as typed',
        'what was typed wins',
      );
      t.equal(inboundTextOf({ message: '', media }, true), '', 'a file speaks for itself');
    }
  }
  t.equal(inboundTextOf({ message: '' }, false), '[unsupported: empty message]');
});

t.test('what a contact sends arrives once, with its text', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  const sent = Object.values(samples).flat();
  for (const [media] of sent) {
    bench.control.write(phone, { from: friend.phone, text: '', attached: plain(media) });
  }
  for (const [media, text] of sent) {
    const message = await port.message();
    t.match(message, { text, media: null, from: { name: friend.name } }, media._);
  }
  bench.control.write(phone, { from: friend.phone, text: 'that is all' });
  t.equal((await port.message()).text, 'that is all');
  t.same(port.left, []);
});

t.test('files are what they say they are', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  const sticker: TlObject = {
    _: 'documentAttributeSticker',
    alt: '🙂',
    stickerset: { _: 'inputStickerSetEmpty' },
  };
  const film = { _: 'documentAttributeVideo', duration: 1, w: 1, h: 1 };
  const files: readonly [what: string, mimeType: string, TlObject[], kind: string][] = [
    ['a round video note', 'video/mp4', [{ ...film, roundMessage: true }], 'video'],
    [
      'a voice message',
      'application/ogg',
      [{ _: 'documentAttributeAudio', duration: 1, voice: true }],
      'audio',
    ],
    ['a sticker', 'image/webp', [sticker], 'image'],
    ['a video sticker', 'video/webm', [sticker, film], 'video'],
    ['an animated sticker', 'application/x-tgsticker', [sticker], 'document'],
    ['a moving picture', 'video/mp4', [{ _: 'documentAttributeAnimated' }, film], 'video'],
    ['a paper', 'application/pdf', [], 'document'],
  ];
  for (const [what, mimeType, attributes, kind] of files) {
    const document = {
      _: 'document',
      id: Long.ONE,
      accessHash: Long.ONE,
      fileReference: Buffer.from('none'),
      date: 1,
      dcId: 2,
      mimeType,
      size: 10,
      attributes,
    };
    const attached = { _: 'messageMediaDocument', document };
    bench.control.write(phone, { from: friend.phone, text: '', attached });
    const message = await port.message();
    t.match(message, { text: '', media: { kind, mimeType } }, what);
  }
});

t.test('a gift is a message with what was written with it', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  const { control } = bench;
  const peerId = { _: 'peerUser', userId: Number(control.idOf(friend.phone)) };
  const premium = { _: 'messageActionGiftPremium', currency: 'EUR', amount: Long.ONE, days: 90 };
  const code = { _: 'messageActionGiftCode', days: 90, slug: 'code' };
  const stars = { _: 'messageActionGiftStars', currency: 'XTR', amount: Long.ONE, stars: Long.ONE };
  const gifts: readonly [TlObject, string][] = [
    [{ ...premium, message: words('Happy birthday!') }, 'Happy birthday!'],
    [{ ...code, message: words('for you') }, 'for you'],
    [premium, '[unsupported: gift]'],
    [{ ...premium, message: words('') }, '[unsupported: gift]'],
    [stars, '[unsupported: gift]'],
  ];
  control.write(phone, { from: friend.phone, text: 'is met' });
  t.equal((await port.message()).text, 'is met');
  for (const [index, [action, text]] of gifts.entries()) {
    const id = 8_000 + index;
    const message = { _: 'messageService', id, peerId, date: 1, action };
    control.happen(phone, { _: 'updateNewMessage', message });
    const expected = { text, media: null, from: { phone: friend.phone } };
    t.match(await port.message(3_000), expected, `${String(action._)} as ${text}`);
  }
  const own = { _: 'messageService', id: 8_100, peerId, out: true, date: 1, action: premium };
  control.happen(phone, { _: 'updateNewMessage', message: own });
  control.write(phone, { from: friend.phone, text: 'a message' });
  t.equal((await port.message()).text, 'a message', 'none of the account itself');
});

t.test('what is no message is acknowledged and counted', async (t) => {
  const bench = await startBench(t);
  const { phone, port } = await bench.linked();
  const { control } = bench;
  const userId = Number(control.idOf(friend.phone));
  const ofFriend = { _: 'peerUser', userId };
  const service = (id: number, action: TlObject) => ({
    _: 'updateNewMessage',
    message: { _: 'messageService', id, peerId: ofFriend, date: 1, action },
  });
  const edited = { _: 'message', id: 1, peerId: ofFriend, date: 1, message: 'edited' };
  const reactions = { _: 'messageReactions', results: [] };
  const inSequence: readonly [TlObject, LeftOutKind][] = [
    [service(9_001, { _: 'messageActionPhoneCall', callId: Long.ONE }), 'call'],
    [service(9_002, { _: 'messageActionContactSignUp' }), 'protocol'],
    [{ _: 'updateEditMessage', message: edited }, 'edit'],
    [{ _: 'updateDeleteMessages', messages: [77] }, 'deletion'],
  ];
  const beside: readonly [TlObject, LeftOutKind][] = [
    [{ _: 'updateMessageReactions', peer: ofFriend, msgId: 1, reactions }, 'reaction'],
    [{ _: 'updateStory', peer: ofFriend, story: { _: 'storyItemDeleted', id: 1 } }, 'status_post'],
  ];
  for (const [update] of inSequence) control.happen(phone, update);
  for (const [update] of beside) control.tell(phone, update);
  control.writeToGroup(phone, 'to a group');
  control.write(phone, { from: friend.phone, text: 'a message' });
  t.equal((await port.message()).text, 'a message');
  const kinds = ['group', ...[...inSequence, ...beside].map(([, kind]) => kind)];
  await until('all to be left out', async () => port.left.length >= kinds.length || undefined);
  t.same([...port.left].sort(), kinds.sort());
  t.equal(port.events.filter(({ type }) => type === 'message').length, 1);
});

t.test("the owner's notes to themselves are nobody's messages", async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const opened = await bench.linked();
  const { phone } = opened;
  const forwarded = { _: 'messageMediaGeo', geo: { _: 'geoPointEmpty' } };
  const note = () => {
    control.write(phone, { from: phone, text: 'a note' });
    control.write(phone, { from: phone, text: '', attached: forwarded });
    control.write(phone, { from: friend.phone, text: 'a message' });
  };
  note();
  t.equal((await opened.port.message()).text, 'a message', 'pushed after the login');
  opened.session.close();
  note();
  const later = await bench.reopened(opened);
  t.equal((await later.port.message()).text, 'a message', 'missed, read by another process');
  note();
  t.equal((await later.port.message()).text, 'a message', 'pushed to it');
  for (const { port } of [opened, later]) {
    t.notOk(port.events.some((event) => event.type === 'message' && event.text !== 'a message'));
    t.same(port.left, []);
  }
});

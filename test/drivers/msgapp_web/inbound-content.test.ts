import type { proto as Proto } from 'baileys';
import t from 'tap';
import { knownFields } from '../../../drivers/msgapp_web/field-readings.ts';
import { inboundContentOf, withheldContent } from '../../../drivers/msgapp_web/inbound-content.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { cardOf } from '../../../drivers/msgapp_web/vcard.ts';

const { proto } = await loadLibrary();

const vcard = [
  'BEGIN:VCARD',
  'VERSION:3.0',
  'FN:Ada Lovelace',
  'item1.TEL;type=CELL;waid=491511234567:+49 151 1234',
  ' 567',
  'TEL;VALUE=uri:tel:+44-20-7946-0958',
  'END:VCARD',
].join('\r\n');
const ada = { displayName: 'Ada', vcard };
const poll = { name: 'Lunch?', options: [{ optionName: 'Pizza' }, { optionName: 'Sushi' }] };
const pollLine = '[poll: Lunch? · Pizza · Sushi]';
const place = { degreesLatitude: 52.52, degreesLongitude: 13.405 };
const text = (conversation: string) => ({ message: { conversation } });

const kinds: readonly (readonly [Proto.IMessage, string])[] = [
  [{ conversation: 'Hello' }, 'Hello'],
  [{ extendedTextMessage: { text: 'See https://example.com' } }, 'See https://example.com'],
  [
    { locationMessage: { ...place, name: 'Alexanderplatz' } },
    '[location: 52.5200, 13.4050, Alexanderplatz]',
  ],
  [
    { locationMessage: { ...place, address: 'Main Street 1' } },
    '[location: 52.5200, 13.4050, Main Street 1]',
  ],
  [{ locationMessage: { ...place, comment: 'I am here' } }, 'I am here'],
  [{ liveLocationMessage: place }, '[location: 52.5200, 13.4050]'],
  [{ liveLocationMessage: { ...place, caption: 'on my way' } }, 'on my way'],
  [{ contactMessage: ada }, '[contact: Ada, +49 151 1234567, +44-20-7946-0958]'],
  [{ contactMessage: { vcard } }, '[contact: Ada Lovelace, +49 151 1234567, +44-20-7946-0958]'],
  [
    {
      contactsArrayMessage: {
        displayName: '2 contacts',
        contacts: [{ displayName: 'Ben' }, { displayName: 'Cy' }],
      },
    },
    '[contact: Ben]\n[contact: Cy]',
  ],
  [{ contactsArrayMessage: {} }, '[contact]'],
  [{ pollCreationMessage: poll }, pollLine],
  [{ pollCreationMessageV2: poll }, pollLine],
  [{ pollCreationMessageV3: poll }, pollLine],
  [{ pollCreationMessageV4: { message: { pollCreationMessage: poll } } }, pollLine],
  [{ pollCreationMessageV5: poll }, pollLine],
  [{ groupInviteMessage: { groupName: 'Chess club' } }, '[group invite: Chess club]'],
  [{ groupInviteMessage: { groupName: 'Chess club', caption: 'Join us' } }, 'Join us'],
  [{ buttonsResponseMessage: { selectedDisplayText: 'Yes' } }, 'Yes'],
  [{ buttonsResponseMessage: { selectedButtonId: 'b1' } }, '[unsupported: button reply]'],
  [{ templateButtonReplyMessage: { selectedDisplayText: 'No' } }, 'No'],
  [{ listResponseMessage: { title: 'Large' } }, 'Large'],
  [{ interactiveResponseMessage: { body: { text: 'Booked' } } }, 'Booked'],
  [
    { interactiveResponseMessage: { nativeFlowResponseMessage: { name: 'flow' } } },
    '[unsupported: interactive reply]',
  ],
  [{ buttonsMessage: { contentText: 'Choose' } }, 'Choose'],
  [{ listMessage: { title: 'Menu', description: 'Pick one' } }, 'Pick one'],
  [{ interactiveMessage: { body: { text: 'Tap below' } } }, 'Tap below'],
  [{ templateMessage: { hydratedTemplate: { hydratedContentText: 'Your order' } } }, 'Your order'],
  [{ templateMessage: {} }, '[unsupported: template]'],
  [{ highlyStructuredMessage: {} }, '[unsupported: template]'],
  [{ productMessage: {} }, '[unsupported: product]'],
  [{ orderMessage: { message: 'Two, please' } }, 'Two, please'],
  [{ orderMessage: { orderTitle: 'Order 1' } }, '[unsupported: order]'],
  [{ invoiceMessage: {} }, '[unsupported: invoice]'],
  [{ sendPaymentMessage: { noteMessage: { conversation: 'For lunch' } } }, 'For lunch'],
  [{ sendPaymentMessage: {} }, '[unsupported: payment]'],
  [{ requestPaymentMessage: {} }, '[unsupported: payment request]'],
  [{ eventMessage: { name: 'Party' } }, '[unsupported: event]'],
  [{ scheduledCallCreationMessage: {} }, '[unsupported: scheduled call]'],
  [{ stickerPackMessage: {} }, '[unsupported: sticker pack]'],
  [{ placeholderMessage: {} }, '[unsupported: shown on the phone only]'],
  [{ statusQuotedMessage: { text: 'Nice view' } }, 'Nice view'],
  [{ ephemeralMessage: { message: { viewOnceMessageV2: text('gone soon') } } }, 'gone soon'],
  [{ deviceSentMessage: text('from my tablet') }, 'from my tablet'],
  [{ groupMentionedMessage: text('@chess hello') }, '@chess hello'],
  [{ messageContextInfo: {} }, '[unsupported: message]'],
  [{}, '[unsupported: message]'],
];

t.test(
  'what a person sent on purpose is a message, and reads the same from every device',
  async (t) => {
    for (const [content, expected] of kinds) {
      const name = JSON.stringify(content).slice(0, 80);
      t.same(inboundContentOf(content), { type: 'written', text: expected, media: null }, name);
      const sent = proto.Message.decode(
        proto.Message.encode(proto.Message.fromObject(content)).finish(),
      );
      t.match(inboundContentOf(sent), { type: 'written', text: expected }, `${name}, as it comes`);
    }
  },
);

t.test('files keep their caption', async (t) => {
  const file = { directPath: '/v/f', mimetype: 'video/mp4', caption: 'look' };
  for (const [content, type, expected] of [
    [{ imageMessage: file }, 'image', 'look'],
    [{ videoMessage: file }, 'video', 'look'],
    [{ ptvMessage: file }, 'video', 'look'],
    [{ documentWithCaptionMessage: { message: { documentMessage: file } } }, 'document', 'look'],
    [{ audioMessage: { directPath: '/v/f', ptt: true } }, 'audio', ''],
    [{ stickerMessage: { directPath: '/v/f' } }, 'sticker', ''],
    [
      { lottieStickerMessage: { message: { stickerMessage: { directPath: '/v/f' } } } },
      'sticker',
      '',
    ],
    [{ viewOnceMessage: { message: { imageMessage: file } } }, 'image', 'look'],
    [{ associatedChildMessage: { message: { imageMessage: file } } }, 'image', 'look'],
    [{ buttonsMessage: { imageMessage: file, contentText: 'Choose' } }, 'image', 'Choose'],
    [
      { interactiveMessage: { header: { videoMessage: file }, body: { text: 'Tap' } } },
      'video',
      'Tap',
    ],
    [{ productMessage: { body: 'Shoes', product: { productImage: file } } }, 'image', 'Shoes'],
  ] as const) {
    t.match(inboundContentOf(content), { type: 'written', text: expected, media: { type } });
  }
});

t.test('what is no message is left out, each under its kind', async (t) => {
  const { Type } = proto.Message.ProtocolMessage;
  const protocol = (type: number) => ({ protocolMessage: { type } });
  for (const [content, kind] of [
    [{ reactionMessage: { text: '👍' } }, 'reaction'],
    [{ encReactionMessage: {} }, 'reaction'],
    [{ pollUpdateMessage: {} }, 'reaction'],
    [{ encEventResponseMessage: {} }, 'reaction'],
    [protocol(Type.MESSAGE_EDIT), 'edit'],
    [{ editedMessage: { message: protocol(Type.MESSAGE_EDIT) } }, 'edit'],
    [{ ephemeralMessage: { message: protocol(Type.MESSAGE_EDIT) } }, 'edit'],
    [protocol(Type.REVOKE), 'deletion'],
    [protocol(Type.EPHEMERAL_SETTING), 'protocol'],
    [{ senderKeyDistributionMessage: {} }, 'protocol'],
    [{ keepInChatMessage: {} }, 'protocol'],
    [{ albumMessage: { expectedImageCount: 2 } }, 'protocol'],
    [{ call: {} }, 'call'],
    [{ callLogMesssage: {} }, 'call'],
    [{ groupStatusMessageV2: text('to all') }, 'status_post'],
    [{ statusMentionMessage: {} }, 'status_post'],
  ] as const) {
    t.same(inboundContentOf(content), { type: 'left_out', kind }, JSON.stringify(content));
  }
  t.match(
    inboundContentOf({ senderKeyDistributionMessage: {}, conversation: 'Hello' }),
    { type: 'written', text: 'Hello' },
    'what comes beside a text does not hide it',
  );
});

t.test('a further file of a message is none, a picture of an album is', async (t) => {
  const { AssociationType } = proto.MessageAssociation;
  const imageMessage = { directPath: '/v/f', mimetype: 'image/jpeg', caption: 'look' };
  const info = (associationType: number) => ({
    messageContextInfo: { messageAssociation: { associationType } },
  });
  const {
    HD_VIDEO_DUAL_UPLOAD: video,
    HD_IMAGE_DUAL_UPLOAD: image,
    MOTION_PHOTO: motion,
    HEVC_VIDEO_DUAL_UPLOAD: hevc,
    MEDIA_ALBUM: album,
  } = AssociationType;
  for (const type of [video, image, motion, hevc]) {
    for (const content of [
      { associatedChildMessage: { message: { imageMessage, ...info(type) } } },
      { associatedChildMessage: { message: { imageMessage } }, ...info(type) },
    ]) {
      t.same(inboundContentOf(content), { type: 'left_out', kind: 'edit' }, AssociationType[type]);
    }
  }
  t.match(inboundContentOf({ imageMessage, ...info(album) }), { type: 'written', text: 'look' });
});

t.test('a message that is wrapped without end is a message', async (t) => {
  let content: object = { conversation: 'deep' };
  for (let depth = 0; depth < 50; depth += 1) content = { ephemeralMessage: { message: content } };
  t.match(inboundContentOf(content), { type: 'written', text: '[unsupported: message]' });
});

t.test('every field that the library knows has a meaning', async (t) => {
  const { toJSON: _, ...fields } = Object.getPrototypeOf(new proto.Message());
  t.same([...knownFields].sort(), Object.keys(fields).sort());
});

t.test('what the network gives to the phone alone', async (t) => {
  for (const why of ['view_once', 'view_once_unavailable_fanout']) {
    t.match(withheldContent(why), { text: '[unsupported: view once]' });
  }
  t.match(withheldContent('hosted_unavailable_fanout'), { type: 'written' });
  t.match(withheldContent('bot_unavailable_fanout'), { type: 'left_out', kind: 'protocol' });
  t.equal(withheldContent(null), null);
  t.equal(withheldContent('anything'), null);
});

t.test('contact cards', async (t) => {
  t.same(cardOf(vcard), { name: 'Ada Lovelace', phones: ['+49 151 1234567', '+44-20-7946-0958'] });
  t.same(cardOf(''), { name: null, phones: [] });
  t.same(cardOf('TEL:\nFN: \nnonsense'), { name: null, phones: [] });
  t.same(cardOf('a-1.b.FN:A\nTELEX:1\n1TEL:2\nb-2.tel;X-A="b":c:3\nTEL'), {
    name: null,
    phones: ['c:3'],
  });
});

t.test('a contact card without an end takes no long time', async (t) => {
  for (const card of ['F'.repeat(30_000), `${'-'.repeat(15_000)}.${'F'.repeat(15_000)}`]) {
    const begun = process.cpuUsage();
    t.same(cardOf(card), { name: null, phones: [] });
    const { user, system } = process.cpuUsage(begun);
    t.ok(user + system < 2_000_000, `${user + system} µs`);
  }
  t.equal(cardOf(`X:${'x'.repeat(1_000_000)}\nFN:Ada`).name, null, 'the end of a long card');
});

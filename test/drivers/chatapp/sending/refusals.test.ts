import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import type { DriverError } from '../../../../core/contracts/driver.ts';
import { refusal, refusalCodes } from '../../../../drivers/chatapp/sending/refusals.ts';
import { startBench, textTo } from '../bench.ts';

const project = join(import.meta.dirname, '../../../..');

/** Codes of messages that no file of the driver's sending names as they are. */
const saidElsewhere = [
  ...['logged_out', 'replaced', 'deleted_unread', 'not_connected', 'session_closed'],
  ...['media_unavailable', 'media_too_large', 'media_type_not_allowed', 'media_url_not_allowed'],
];

t.test('the usual refusals have codes and sentences of their own', async (t) => {
  for (const [name, code] of [
    ['PEER_ID_INVALID', 'contact_unknown'],
    ['PHONE_NOT_OCCUPIED', 'not_on_network'],
    ['INPUT_USER_DEACTIVATED', 'contact_deactivated'],
    ['USER_IS_BLOCKED', 'blocked_by_contact'],
    ['YOU_BLOCKED_USER', 'blocked_by_account'],
    ['USER_PRIVACY_RESTRICTED', 'contact_privacy'],
    ['PRIVACY_PREMIUM_REQUIRED', 'premium_required'],
    ['ALLOW_PAYMENT_REQUIRED_250', 'payment_required'],
    ['CHAT_WRITE_FORBIDDEN', 'write_forbidden'],
    ['CHAT_SEND_PHOTOS_FORBIDDEN', 'write_forbidden'],
    ['MEDIA_CAPTION_TOO_LONG', 'caption_too_long'],
    ['MESSAGE_TOO_LONG', 'text_too_long'],
    ['MESSAGE_EMPTY', 'text_empty'],
    ['FILE_PART_3_MISSING', 'media_refused'],
    ['PHOTO_INVALID_DIMENSIONS', 'media_refused'],
    ['SOMETHING_NEW_17', 'refused_by_network'],
  ] as const) {
    const { code: told, message, certain, retryAfterMs } = refusal(name);
    t.match({ told, certain, retryAfterMs }, { told: code, certain: true, retryAfterMs: null });
    t.ok(message.includes(name), `${name} is in the sentence`);
    if (code !== 'refused_by_network') t.match(message, /^[a-z].*: .* \([A-Z0-9_]+\)$/);
  }
});

t.test('what is no name is not shown', async (t) => {
  const { code, message } = refusal('call +12025550123');
  t.equal(code, 'refused_by_network');
  t.notMatch(message, /2025550123/);
});

t.test('no number of the network becomes a part of a code', async (t) => {
  const { errors } = createRequire(import.meta.url)('@mtcute/core/tl/raw-errors.json') as {
    readonly errors: Readonly<Record<string, unknown>>;
  };
  const names = Object.keys(errors);
  t.ok(names.length > 500);
  for (const name of names) {
    const { code } = refusal(name);
    t.ok(refusalCodes.includes(code) && !/\d/.test(code), name);
  }
});

t.test('a message that the contact wants to be paid for', async (t) => {
  const bench = await startBench(t);
  const { session } = await bench.linked();
  bench.control.refuse('messages.sendMessage', 403, 'ALLOW_PAYMENT_REQUIRED_250', 1);
  const refused = await session
    .send(textTo(bench, 'msg_paid'), AbortSignal.timeout(10_000))
    .catch((error: DriverError) => error);
  t.match(refused, { code: 'payment_required', certain: true, message: /write first/ });
});

t.test('the page of the channel lists every code of a message', async (t) => {
  const page = await readFile(join(project, 'docs/chatapp.md'), 'utf8');
  const [, section = ''] = page.split('## Codes of messages\n');
  const [table = ''] = section.split('\n## ');
  const listed = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code),
  );
  const folder = join(project, 'drivers/chatapp/sending');
  const files = (await readdir(folder)).map((name) => join(folder, name));
  const sources = await Promise.all(
    [...files, join(folder, '../named-waits.ts')].map((file) => readFile(file, 'utf8')),
  );
  const named = sources.flatMap((source) =>
    [...source.matchAll(/new DriverError\(\s*'(\w+)'/g)].map(([, code]) => code),
  );
  t.ok(named.length >= 8);
  const all = new Set([...named, ...refusalCodes, ...saidElsewhere]);
  t.strictSame([...new Set(listed)].sort(), [...all].sort());
  t.equal(new Set(listed).size, listed.length, 'each once');
});

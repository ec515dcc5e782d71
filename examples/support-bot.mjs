// A support bot: answers what it knows, and passes everything else on to a colleague's phone.
//   KEY=gw_… DESK=+12025550150 node examples/support-bot.mjs
import { readFile, rename, writeFile } from 'node:fs/promises';
import { GatewayClient, isRefusal } from 'messaging-gateway/client';

const { DESK: desk } = process.env;
if (!desk) throw new Error('DESK is missing: the phone that gets what the bot cannot answer');
const client = new GatewayClient({
  baseUrl: process.env.BASE ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.KEY ?? '',
});

const answers = [
  [/\b(hours|open)\b/i, 'We are open from 9 to 17, Monday to Friday.'],
  [/\b(price|cost)\b/i, 'All prices are on our website.'],
];
const toBePassedOn = 'A colleague will write to you.';
const longest = 4096; // characters of one text

// Where the bot was. A bot that starts again goes on from here and misses no message. (rename is atomic)
const file = process.env.CURSOR_FILE ?? 'support-bot.cursor';
const cursor = {
  load: () =>
    readFile(file, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return null; // the first run
      throw error;
    }),
  save: async (text) => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  },
};

/**
 * Sends one message, and says whether it was accepted. One that may not be sent, for example as the person wants none,
 * does not stop the bot. Anything else does, before the cursor is saved: a bot that is started again takes the same
 * question.
 */
async function send(message, idempotencyKey) {
  try {
    await client.send(message, { idempotencyKey });
    return true;
  } catch (error) {
    if (!isRefusal(error) || mayPass(error)) throw error;
    console.log('not sent:', error.code, error.message);
    return false;
  }
}

/** Whether the same message may be sent later. The client has already repeated it for a minute. */
function mayPass({ status, code }) {
  if (code === 'loop_guard') return false; // about one person only, a bot
  if (code === 'no_connected_account') return true; // somebody has to act first, as for 401 and 403
  return [401, 403, 429].includes(status) || status >= 500;
}

/** As much of a text as one message takes. The gateway counts an emoji as one character, `length` as two. */
function cut(text) {
  const characters = [...text];
  if (characters.length <= longest) return text;
  return `${characters.slice(0, longest - 1).join('')}…`;
}

console.log('listening');
for await (const { id, text, contact, account_id } of client.messages({ cursor })) {
  if (contact.phone === desk) continue; // the colleague's own messages are no questions
  const known = answers.find(([pattern]) => pattern.test(text))?.[1];
  const answer = { account_id, to: { contact_id: contact.id }, text: known ?? toBePassedOn };
  // A bot that was stopped in the middle sees its last messages again. The same keys make the answers the same, too.
  const isAnswered = await send(answer, `answer-${id}`);
  if (known === undefined) {
    const question = `${contact.name} (${contact.phone ?? contact.id}) asks: ${text}`;
    const toDesk = { account_id, to: { phone: desk }, text: cut(question) };
    if (await send(toDesk, `desk-${id}`)) console.log('passed on', id);
  } else if (isAnswered) console.log('answered', id);
}

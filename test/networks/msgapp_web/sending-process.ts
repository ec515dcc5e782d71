import { appendFile, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import { controlOf } from './control.ts';

/**
 * Sends from one account to eight contacts at once, to each one message after the other, until it is killed; a later
 * run goes on where this one was. Arguments: a folder, up to which number each contact gets messages, where the
 * network is, where it is played and its root key. Prints `begun` once it sends, and `done` when it has sent all.
 */
const [folder = '', last = '', url = '', control = '', key = ''] = process.argv.slice(2);

/** The lines of a file of JSON; the last is left out when a kill has cut it off. */
async function linesOf(name: string): Promise<unknown[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Credentials in a file, each write behind the others and synced. */
class FileCredentials extends MemoryCredentials {
  static async open(): Promise<FileCredentials> {
    const values = new Map<string, string>();
    // Written by `set`.
    for (const line of (await linesOf('keys')) as Record<string, string | null>[]) {
      for (const [name, value] of Object.entries(line)) {
        if (value === null) values.delete(name);
        else values.set(name, value);
      }
    }
    return new FileCredentials(values);
  }

  /** At once: thousands of messages are to be sent. */
  override async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const found = names.flatMap((name) => {
      const value = this.values.get(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(found);
  }

  override async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    const file = await open(join(folder, 'keys'), 'a');
    // A kill in the middle would leave half a line for the next write to continue.
    await file.appendFile(`${JSON.stringify(values)}\n`);
    await file.datasync();
    await file.close();
    await super.set(values);
  }
}

const credentials = await FileCredentials.open();
const port = new MemoryPort(new LogLines(), credentials);
port.onEmit = async () => {
  port.credentials.written.length = 0;
};
const phone = phoneNumber(1);
const account = { id: 'acc_1', tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
const options = { websocket_url: url, root_public_key: key };
const session = makeMsgappWebDriver({ options }).open(account, port);
if (credentials.values.size === 0) {
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await controlOf(control).scan(phone, (await port.step('show_qr')).data);
} else {
  await session.resume();
}
await port.state('connected');

// Written below: how many messages each contact has had, newest last.
const sent = new Map((await linesOf('sent')) as [string, number][]);

async function converse(contact: string): Promise<void> {
  for (let number = (sent.get(contact) ?? 0) + 1; number <= Number(last); number += 1) {
    const to = { phone: null, networkId: contact };
    const [digits] = contact.split('@');
    const message = { reference: `msg_${digits}_${number}`, attempt: 1, to, media: null };
    await session.send({ ...message, text: String(number) }, AbortSignal.timeout(30_000));
    await appendFile(join(folder, 'sent'), `${JSON.stringify([contact, number])}\n`);
  }
}

console.log('begun');
// By hidden ids: by phone, each connection begins with new sessions.
const contacts = Array.from({ length: 8 }, (_, n) => `77${phoneNumber(9_001 + n).slice(1)}@lid`);
await Promise.all(contacts.map(converse));
session.close();
console.log('done');
process.exit(0);

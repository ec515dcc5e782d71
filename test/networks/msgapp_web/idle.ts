import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthenticationCreds } from 'baileys';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { loadTrusting } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { inPool } from '../../harness/pool.ts';
import { phoneNumber } from '../../harness/story.ts';
import { controlOf } from './control.ts';

/**
 * Measures what idle accounts cost: `driver` or `bare`, which link, or `resumed`, bare and linked long ago; how many,
 * where the network is, where it is played and its root key. Prints the bytes of one account, as JSON. Run with
 * `--expose-gc`.
 */
const [kind, count, url = '', control = '', key = ''] = process.argv.slice(2);
const root = Buffer.from(key, 'base64');
const network = controlOf(control);
const library = await loadTrusting(root);
const silent = libraryLog(new LogLines(), '');
/** Accounts that are connected at the same time. */
const atOnce = 8;
/** Accounts after which garbage is collected: gigabytes of it stop the process for longer than the library waits. */
const collectedEach = 25;

/** Links one account; what it keeps alive is what is measured. Credentials live elsewhere in both cases. */
async function byDriver(phone: string): Promise<unknown> {
  const options = { websocket_url: url, root_public_key: key };
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines());
  const session = makeMsgappWebDriver({ options }).open(account, port);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  return { session, port };
}

/** The same with nothing but the library. */
async function bare(phone: string): Promise<unknown> {
  return await withLibrary(phone, library.initAuthCreds(), new Map());
}

/** The same of a device that was linked before, in another process. */
async function resumed(phone: string): Promise<unknown> {
  const [{ link = '', ...keys } = {}] = await network.provision([phone]);
  // Made by the driver's own keys in the network's process.
  const { login } = JSON.parse(link, library.BufferJSON.reviver) as { login: AuthenticationCreds };
  const values = Object.entries(keys).map(
    ([name, value]) => [name.slice('key:'.length), value] as const,
  );
  return await withLibrary(phone, login, new Map(values));
}

async function withLibrary(
  phone: string,
  creds: AuthenticationCreds,
  values: Map<string, unknown>,
): Promise<unknown> {
  const connect = (): ReturnType<typeof library.makeWASocket> => {
    const socket = library.makeWASocket({
      waWebSocketUrl: url,
      logger: silent,
      markOnlineOnConnect: false,
      auth: {
        creds,
        keys: {
          get: (type, ids) =>
            Object.fromEntries(
              ids.flatMap((id) => {
                const text = values.get(`${type}:${id}`);
                if (typeof text !== 'string') return [];
                return [[id, JSON.parse(text, library.BufferJSON.reviver)]];
              }),
            ),
          set: (data) => {
            for (const [type, entries] of Object.entries(data)) {
              for (const [id, value] of Object.entries(entries ?? {})) {
                values.set(`${type}:${id}`, JSON.stringify(value, library.BufferJSON.replacer));
              }
            }
          },
        },
      },
    });
    return socket;
  };
  const live: { socket: ReturnType<typeof connect> } = { socket: connect() };
  await new Promise<void>((resolve) => {
    const listen = (): void => {
      live.socket.ev.on('connection.update', ({ qr, connection }) => {
        if (qr !== undefined) void network.scan(phone, qr);
        if (connection === 'open') resolve();
        if (connection === 'close') {
          live.socket = connect();
          listen();
        }
      });
    };
    listen();
  });
  return { live, values };
}

/** In use once it has settled: what the first ones leave behind is not freed by one collection. */
async function used(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await sleep(300);
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const link = { driver: byDriver, bare, resumed }[kind ?? ''] ?? bare;
const kept: unknown[] = [await link(phoneNumber(1))];
const before = await used();
const phones = Array.from({ length: Number(count) }, (_, number) => phoneNumber(2 + number));
await inPool(phones, atOnce, async (phone) => {
  kept.push(await link(phone));
  if (kept.length % collectedEach === 0) globalThis.gc?.();
});
const perAccount = Math.round(((await used()) - before) / Number(count));
console.log(JSON.stringify({ perAccount, kept: kept.length }));
process.exit(0);

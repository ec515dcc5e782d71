// The floor of an account of msgapp_web: the bare library with its keys in memory and, group committed, a row for each
// key that changes. A frame leaves when what was added to the ledger before it is durable; the library goes on meanwhile.
import type { BinaryNode, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys';
import { loadTrusting } from '../../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../../drivers/msgapp_web/library-log.ts';
import { Ledger } from './ledger.ts';
import { serveFloor } from './serve.ts';

const { DATABASE_URL = '', PHONE = '' } = process.env;
const { SOCKET_URL = '', ROOT_PUBLIC_KEY = '', CONTROL_URL = '' } = process.env;
/** How long the network may take to answer, milliseconds. */
const answerMs = 60_000;

const library = await loadTrusting(Buffer.from(ROOT_PUBLIC_KEY, 'base64'));
const silent = libraryLog({ debug() {}, info() {}, warn() {}, error() {} }, '');
const ledger = await Ledger.open(DATABASE_URL);
const creds = library.initAuthCreds();
const values = new Map<string, unknown>();

const keys: SignalKeyStore = {
  get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
    const found = ids.flatMap((id) => {
      const value = values.get(`${type}:${id}`);
      return value === undefined ? [] : [[id, value] as const];
    });
    // What `set` put under a type is of that type.
    return Object.fromEntries(found) as { [id: string]: SignalDataTypeMap[Type] };
  },
  set(data: SignalDataSet) {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        const name = `${type}:${id}`;
        if (value === null || value === undefined) values.delete(name);
        else values.set(name, value);
        ledger.key(name, value == null ? null : textOf(value));
      }
    }
  },
};

function textOf(value: unknown): string {
  return JSON.stringify(value, library.BufferJSON.replacer);
}

function connect() {
  const socket = library.makeWASocket({
    waWebSocketUrl: SOCKET_URL,
    logger: silent,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    auth: { creds, keys },
    // Transactions of its own: the library's end, and write the keys, only when the frame is out.
    makeSignalRepository: (_, log, find) => {
      const own = library.addTransactionCapability(keys, log, {
        maxCommitRetries: 1,
        delayBetweenTriesMs: 1,
      });
      const { makeSignalRepository } = library.DEFAULT_CONNECTION_CONFIG;
      return makeSignalRepository({ creds, keys: own }, log, find);
    },
  });
  socket.ev.on('creds.update', () => ledger.key('creds', textOf(creds)));
  // The library's web socket is declared protected; it is there from the start.
  gate((socket.ws as unknown as { socket: WireEnd }).socket);
  return socket;
}

/** As much of the library's web socket as is changed here. */
interface WireEnd {
  send(data: Uint8Array, sent?: () => void): void;
}

/** Has each frame wait for the ledger, in order, while the library holds it for sent. */
function gate(wire: WireEnd): void {
  const send = wire.send.bind(wire);
  wire.send = (data, sent) => {
    sent?.();
    // Each turn of the ledger ends after the one before, so the frames keep their order.
    void ledger.durable().then(() => send(data));
  };
}

/** The owner scans the code. */
async function scan(qr: string): Promise<void> {
  const body = JSON.stringify([PHONE, qr]);
  const answer = await fetch(`${CONTROL_URL}/scan`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`scan: ${await answer.text()}`);
}

/** The socket that is open, after those that linking goes through. */
async function linked(): Promise<ReturnType<typeof connect>> {
  for (;;) {
    const socket = connect();
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.ev.on('connection.update', ({ qr, connection }) => {
        if (qr !== undefined) void scan(qr);
        if (connection === 'open') resolve(true);
        if (connection === 'close') resolve(false);
      });
    });
    if (isOpen) return socket;
  }
}

const socket = await linked();
const take = await serveFloor(ledger, {
  async send({ id, to, text }) {
    const answer: Promise<BinaryNode | undefined> = socket.waitForMessage(id, answerMs);
    const address = `${to.replace('+', '')}@s.whatsapp.net`;
    await socket.sendMessage(address, { text, linkPreview: null }, { messageId: id });
    const node = await answer;
    if (node === undefined || node.attrs.error) throw new Error(`${id}: ${node?.attrs.error}`);
    return id;
  },
});
socket.ev.on('messages.upsert', ({ messages }) => {
  for (const { key, message } of messages) {
    const text = message?.conversation;
    if (text && key.id && key.remoteJid) void take({ id: key.id, from: key.remoteJid, text });
  }
});
console.log('listening');

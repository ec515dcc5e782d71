/**
 * The simulated network, a program of its own. `SIMULATED_NETWORK_URL` (`tcp://HOST:PORT`) is where it
 * listens, `DATA_DIR` (./data) keeps its state, in the folder `simulated-network`. Whoever connects names the secret in
 * the file `secret` there, or the one in the address (`tcp://:SECRET@HOST:PORT`).
 *
 * `--child`: started by a gateway; listens on a free port, says which in `running.json` beside its
 * state, and ends itself when the last gateway left, when nobody was let in for ten minutes
 * (`--idle-ms=N`) or at all, or when its folder is gone.
 * `--with-parent`: ends when its standard input does, which it does with the process that holds the other end.
 * `--qr-lifetimes-ms=N,N,…`: instead of the usual lifetimes of QR codes.
 * `--most-phones=N`, `--most-messages=N`, `--most-bytes=N`: how much is kept of each tenant.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type NetworkAddress, parseNetworkUrl } from './address.ts';
import { StoreTaken } from './network-file.ts';
import { usualQuota } from './quota.ts';
import { isCurrent, networkFolder, removeRunning, secretOf, writeRunning } from './running.ts';
import { NetworkServer } from './server.ts';
import { NetworkStore } from './store.ts';

/** The exit status of a network that found another one at work on its folder. */
const takenStatus = 3;
/** How long a child waits for the gateway that started it, in milliseconds. */
const firstComerMs = 20_000;
/** How often a child checks whether it is still wanted, in milliseconds. */
const lookMs = 1_000;

const { values: options } = parseArgs({
  options: {
    child: { type: 'boolean', default: false },
    'with-parent': { type: 'boolean', default: false },
    'idle-ms': { type: 'string', default: '600000' },
    'qr-lifetimes-ms': { type: 'string' },
    'most-phones': { type: 'string', default: String(usualQuota.phones) },
    'most-messages': { type: 'string', default: String(usualQuota.messages) },
    'most-bytes': { type: 'string', default: String(usualQuota.bytes) },
  },
});
const qrLifetimesMs =
  options['qr-lifetimes-ms']?.split(',').map((text) => whole('qr-lifetimes-ms', text)) ?? null;
const quota = {
  phones: whole('most-phones', options['most-phones']),
  messages: whole('most-messages', options['most-messages']),
  bytes: whole('most-bytes', options['most-bytes']),
};
const patienceMs = whole('idle-ms', options['idle-ms']);
// An empty variable counts as absent, as for the gateway.
const folder = networkFolder(process.env.DATA_DIR || './data');
const url = options.child ? 'tcp://127.0.0.1:0' : process.env.SIMULATED_NETWORK_URL;

// A child's folder was made by its gateway; one that is gone again needs no network.
if (!options.child) inFolder(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
else if (!existsSync(folder)) process.exit(0);
const address = addressOf(url || 'tcp://127.0.0.1:3025');
const server = new NetworkServer({
  store: inFolder(openStore),
  ...address,
  secret: address.secret ?? inFolder(() => secretOf(folder)),
  qrLifetimesMs,
  quota,
  onLastLeft: () => {
    if (options.child) stop();
  },
  onError: (error) => console.error(error),
});
const port = await server.listen().catch(endUnheard);
const running = { port, pid: process.pid, instance: server.instance };
process.on('SIGTERM', stop);
// A terminal's interrupt is meant for the gateway; a child ends when that has left.
process.on('SIGINT', () => {
  if (!options.child) stop();
});
if (options['with-parent']) process.stdin.resume().on('end', stop);
if (options.child) {
  writeRunning(folder, running);
  setInterval(() => {
    const unwanted =
      server.idleMs() > (server.used ? patienceMs : Math.min(patienceMs, firstComerMs));
    if (unwanted || !isCurrent(folder, running)) stop();
  }, lookMs);
} else {
  console.log(`simulated network listening on port ${port}, state in ${folder}`);
}

function whole(flag: string, text: string): number {
  const number = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (number >= 1 && Number.isSafeInteger(number)) return number;
  console.error(`--${flag} takes whole numbers of at least 1, not "${text}"`);
  process.exit(1);
}

function addressOf(url: string): NetworkAddress {
  try {
    return parseNetworkUrl(url);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

function openStore(): NetworkStore {
  try {
    return new NetworkStore(join(folder, 'network.sqlite'));
  } catch (error) {
    if (!(error instanceof StoreTaken)) throw error;
    if (!options.child) console.error(`another simulated network is at work in ${folder}`);
    process.exit(takenStatus);
  }
}

/** Runs what reads and writes the folder; ends with a sentence where that cannot be. */
function inFolder<Result>(use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    const remedy = 'let this user write there, or set DATA_DIR to another folder';
    console.error(`${folder} cannot be used (${reasonOf(error)}): ${remedy}`);
    process.exit(1);
  }
}

function endUnheard(error: unknown): never {
  const { host, port } = address;
  const reason = reasonOf(error);
  const sentence =
    reason === 'EADDRINUSE'
      ? `port ${port} at ${host} is taken by another program: stop that, or name another one in SIMULATED_NETWORK_URL`
      : `port ${port} at ${host} cannot be listened on (${reason}): correct SIMULATED_NETWORK_URL`;
  console.error(sentence);
  process.exit(1);
}

/** The error's code where it has one; SQLite leaves it empty when a file cannot be opened. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code ? String(error.code) : error.message;
}

function stop(): void {
  if (options.child) removeRunning(folder, running);
  server.stop();
  process.exit(0);
}

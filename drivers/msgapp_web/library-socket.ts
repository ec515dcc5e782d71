import type { DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import type { FrameGate, Wire } from './frame-gate.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import type { MsgappWebOptions } from './options.ts';
import { openedMessages, signalRepository } from './signal-repository.ts';

/** As a pause of the library's own questions: never, in milliseconds. */
const never = 2 ** 31 - 1;

/** Dependencies of a socket. */
export interface LibrarySocketParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly options: Pick<MsgappWebOptions, 'websocketUrl' | 'webVersion'>;
  readonly accountId: string;
  readonly log: DriverLog;
}

/**
 * Makes a socket of the library, whose frames leave through this gate.
 * @param contentOf what was sent to this address with this reference, as the library sends it; undefined: nothing is sent
 */
export function makeLibrarySocket(
  { library, keys, options, accountId, log }: LibrarySocketParts,
  gate: FrameGate,
  contentOf: (
    reference: string,
    address: string,
    socket: LibrarySocket,
  ) => Promise<object | undefined>,
): LibrarySocket {
  const { websocketUrl, webVersion } = options;
  const logger = libraryLog(log, accountId, (collection) => keys.settingsGivenUp.add(collection));
  const cipher = { library, keys, opened: openedMessages(), gate };
  const socket: LibrarySocket = library.makeWASocket({
    auth: { creds: keys.login, keys },
    logger,
    ...(websocketUrl === null ? {} : { waWebSocketUrl: websocketUrl }),
    ...(webVersion === null ? {} : { version: webVersion }),
    browser: library.Browsers.macOS('Chrome'),
    // The library takes two stack traces for each frame with a limit: `Liveness` is in its place.
    connectTimeoutMs: 0,
    keepAliveIntervalMs: never,
    // The phone goes on notifying its owner.
    markOnlineOnConnect: false,
    // What we send comes back by its receipts only.
    emitOwnEvents: false,
    syncFullHistory: keys.imports.history,
    // The address is the contact's also where a device of the account itself asks.
    getMessage: async ({ id, remoteJid }) =>
      id && remoteJid ? await contentOf(id, remoteJid, socket) : undefined,
    makeSignalRepository: (auth, _, find) => signalRepository(cipher, auth, logger, find),
  });
  const wire = wireOf(socket);
  if (wire !== null) gate.guard(wire);
  return socket;
}

/** Ends a socket at once: the library has no call that closes without a closing frame. */
export function terminate(socket: LibrarySocket): void {
  wireOf(socket)?.terminate();
  void socket.end(undefined).catch(() => undefined);
}

/** Drops what the library keeps in memory of these users: their devices, and which number has which hidden id. */
export function forgetUsers(socket: LibrarySocket, users: readonly string[]): void {
  const pairs = pairsOf(socket);
  for (const user of users) {
    void socket.userDevicesCache.del(user);
    pairs.delete(`pn:${user}`);
    pairs.delete(`lid:${user}`);
  }
}

/** The library's web socket, which it declares protected; null when it has none any more. */
function wireOf({ ws }: LibrarySocket): (Wire & { terminate(): void }) | null {
  return (ws as unknown as { socket: (Wire & { terminate(): void }) | null }).socket;
}

/** The library's cache of numbers and hidden ids, which it declares private and has no call to empty. */
function pairsOf({ signalRepository }: LibrarySocket): Pick<Map<string, string>, 'delete'> {
  const { lidMapping } = signalRepository as unknown as {
    lidMapping: { mappingCache: Pick<Map<string, string>, 'delete'> };
  };
  return lidMapping.mappingCache;
}

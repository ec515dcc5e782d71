import { createPublicKey } from 'node:crypto';

/** The driver's options, checked. */
export interface ChatappOptions {
  /** Id of the application that the operator registered with the network. */
  readonly apiId: number;
  /** Its secret. */
  readonly apiHash: string;
  /** The server to speak to instead of the network's own; null: the network's own. */
  readonly dataCenter: DataCenter | null;
  /** PEM of that server's RSA key (PKCS#1), trusted besides the network's own; null: none. */
  readonly serverPublicKey: string | null;
}

/** Where a server listens. */
export interface DataCenter {
  readonly host: string;
  readonly port: number;
}

/**
 * Checks the options `api_id`, `api_hash`, `data_center` and `server_public_key`.
 * @throws Error that says which one is missing or wrong and how to get it; never shows a value
 */
export function chatappOptions(given: Readonly<Record<string, unknown>>): ChatappOptions {
  const { api_id, api_hash, data_center, server_public_key } = given;
  if (isAbsent(api_id) || isAbsent(api_hash)) {
    throw new Error(
      'register an application at https://my.telegram.org and set CHATAPP_API_ID and CHATAPP_API_HASH',
    );
  }
  if (typeof api_id !== 'number' || !Number.isSafeInteger(api_id) || api_id < 1) {
    throw new Error('drivers.chatapp.api_id must be a positive whole number');
  }
  if (typeof api_hash !== 'string' || api_hash === '') {
    throw new Error('drivers.chatapp.api_hash must be text');
  }
  return {
    apiId: api_id,
    apiHash: api_hash,
    dataCenter: isAbsent(data_center) ? null : dataCenter(data_center),
    serverPublicKey: isAbsent(server_public_key) ? null : publicKey(server_public_key),
  };
}

function dataCenter(given: unknown): DataCenter {
  const parts = typeof given === 'string' ? /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(given) : null;
  const [, host, digits] = parts ?? [];
  const port = Number(digits);
  if (host === undefined || !(port >= 1 && port <= 65_535)) {
    throw new Error('drivers.chatapp.data_center must be host:port');
  }
  return { host, port };
}

/** The key in the one form that the library reads, PKCS#1, whichever of the two usual ones was given. */
function publicKey(given: unknown): string {
  try {
    const key = createPublicKey(String(given));
    if (key.asymmetricKeyType === 'rsa')
      return key.export({ type: 'pkcs1', format: 'pem' }).toString();
  } catch {
    // The error below names the option.
  }
  throw new Error('drivers.chatapp.server_public_key must be the PEM of an RSA public key');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

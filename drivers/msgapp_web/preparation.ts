import type { CredentialStore, LinkRequest, ProxyAddress } from '../../core/contracts/driver.ts';
import { AccountKeys } from './account-keys.ts';
import { type LastEnding, lost } from './close-codes.ts';
import type { Erased } from './erased.ts';
import { type Library, loadTrusting, Misconfigured } from './library.ts';
import type { MsgappWebOptions } from './options.ts';

/** Initial state of a connection. */
export interface Prepared {
  readonly library: Library;
  readonly keys: AccountKeys;
  /** How to link; null: linked already. */
  readonly method: string | null;
}

/** The library for sessions that connect through this proxy; null: directly. @throws Error as `loadTrusting` does */
export async function libraryFor(
  { rootPublicKey }: Pick<MsgappWebOptions, 'rootPublicKey'>,
  proxy: ProxyAddress | null,
): Promise<Library> {
  const library = await loadTrusting(rootPublicKey);
  if (proxy === null) return library;
  // Few need it, and it takes a moment to load.
  const { proxied } = await import('./proxied.ts');
  return proxied(library, proxy);
}

/** A new link: what is stored of the one before is discarded. */
export async function newLink(
  library: Library,
  credentials: CredentialStore,
  { method, importContacts, importHistory }: LinkRequest,
  erased: Pick<Erased, 'reset'>,
): Promise<Prepared> {
  erased.reset();
  const imports = { contacts: importContacts, history: importHistory };
  const keys = await AccountKeys.fresh(library, credentials, imports);
  return { library, keys, method };
}

/** The stored link; null when there is none. */
export async function storedLink(
  library: Library,
  credentials: CredentialStore,
): Promise<Prepared | null> {
  const keys = await AccountKeys.stored(library, credentials);
  return keys === null ? null : { library, keys, method: null };
}

/** Why a session could not begin. Pure. */
export function failedStart(error: unknown): LastEnding {
  return error instanceof Misconfigured
    ? lost(`The options of msgapp_web cannot be used: ${error.message}.`, 'misconfigured')
    : lost('The library or the stored session could not be loaded.', 'driver_failed');
}

import { createRequire } from 'node:module';
import { downloadsOf } from './downloads.ts';
import { guardLibsignal } from './libsignal.ts';
import { withEndingUploads } from './uploads.ts';

/** The protocol library, as this driver uses it. */
export type Library = typeof import('baileys');
/** One socket of the library. */
export type LibrarySocket = ReturnType<Library['makeWASocket']>;

/** The options ask for something that this process cannot do. */
export class Misconfigured extends Error {}

let loading: Promise<Library> | null = null;
let trustedRoot: Buffer | null = null;

/**
 * Says at once whether the library is there, without the time and memory that loading it takes.
 * @throws Error that says what to install
 */
export function requireInstalled(): void {
  try {
    import.meta.resolve('baileys');
  } catch (error) {
    throw new Error(
      'the optional package baileys is not installed: run `npm ci` without `--omit=optional`',
      { cause: error },
    );
  }
}

/**
 * The library, loaded when the first session needs it and then kept: silent, and with signatures that are
 * really checked.
 * @throws Error when the library is missing or cannot be made safe
 */
export async function loadLibrary(): Promise<Library> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return await loading;
}

/**
 * The library, with this key to vouch for the network's servers; null: the real network's.
 * @throws Misconfigured when another key is trusted already, since the library has one a process
 * @throws Error as `loadLibrary` does
 */
export async function loadTrusting(root: Buffer | null): Promise<Library> {
  const library = await loadLibrary();
  if (trustedRoot !== null && (root === null || !trustedRoot.equals(root))) {
    throw new Misconfigured('another root_public_key is already trusted in this process');
  }
  if (root !== null) {
    trustedRoot = root;
    library.WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(root);
  }
  return library;
}

async function load(): Promise<Library> {
  requireInstalled();
  guardLibsignal(createRequire(import.meta.resolve('baileys')));
  const library = await import('baileys');
  const { public: key, private: secret } = library.Curve.generateKeyPair();
  const signature = library.Curve.sign(Buffer.from(secret), Buffer.from('signed'));
  const checks = (message: string) =>
    library.Curve.verify(Buffer.from(key), Buffer.from(message), signature);
  if (!checks('signed') || checks('something else')) {
    throw new Error('baileys was loaded before this driver: its signatures are not checked');
  }
  const { downloadOptions } = await import('./download-options.ts');
  const { streamed, whole } = downloadOptions();
  return {
    ...library,
    ...downloadsOf(library, streamed),
    makeWASocket: (config) =>
      withEndingUploads(library.makeWASocket, { options: whole, ...config }),
  };
}

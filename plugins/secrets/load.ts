import { StartRefusal } from '../../core/start-refusal.ts';
import { type Keyring, makeKeyring } from './keyring.ts';
import { keptSecret } from './secret-file.ts';

/** Where the secrets come from: the fields of the configuration with these names. */
export interface SecretSources {
  /** 32 bytes in base64, or null. */
  readonly gateway_secret: string | null | undefined;
  /** The secret before, while keys are being changed, or null. */
  readonly gateway_secret_previous: string | null | undefined;
  readonly data_dir: string;
  readonly database_url: string;
}

/**
 * The keyring of this process: from the configuration, or, where the database is a file beside it, from
 * the data folder. Used by the plugin and by the command line.
 * @param isSealed whether the database is sealed already: no secret is made for it then
 * @throws StartRefusal that says what to set
 */
export async function loadKeyring(sources: SecretSources, isSealed: boolean): Promise<Keyring> {
  const { gateway_secret: given, gateway_secret_previous: previous } = sources;
  if (given) return makeKeyring(given, previous);
  if (!sources.database_url.startsWith('sqlite:')) {
    throw new StartRefusal(
      'GATEWAY_SECRET is required with a database server, the same for every process: 32 bytes in ' +
        'base64, for example from `openssl rand -base64 32`.',
    );
  }
  const kept = await keptSecret(sources.data_dir, isSealed);
  try {
    return makeKeyring(kept, previous);
  } catch (cause) {
    if (cause instanceof Error && cause.message.startsWith('GATEWAY_SECRET_PREVIOUS')) throw cause;
    throw new StartRefusal(
      `The file gateway-secret in ${sources.data_dir} does not hold a secret: put it back as it was.`,
      { cause },
    );
  }
}

import { canaryContext } from './canary.ts';
import { loadKeyring, type SecretSources } from './load.ts';
import { makeSecrets } from './sealing.ts';

/**
 * Whether this configuration's secret is the one that a database is sealed with. Makes no secret.
 * @param canary the sealed value in the database
 * @throws StartRefusal when there is no secret
 */
export async function opensDatabase(sources: SecretSources, canary: string): Promise<boolean> {
  const secrets = makeSecrets(await loadKeyring(sources, true));
  try {
    secrets.open(canary, canaryContext);
    return true;
  } catch {
    return false;
  }
}

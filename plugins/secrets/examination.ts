import { canaryContext } from './canary.ts';
import type { Secrets } from './contract.ts';
import { loadKeyring, type SecretSources } from './load.ts';
import { makeSecrets } from './sealing.ts';

/** Opens what a database has sealed. Makes no secret. @throws StartRefusal when there is none */
export async function configuredSecrets(sources: SecretSources): Promise<Pick<Secrets, 'open'>> {
  return makeSecrets(await loadKeyring(sources, true));
}

/**
 * Whether this configuration's secret is the one that a database is sealed with. Makes no secret.
 * @param canary the sealed value in the database
 * @throws StartRefusal when there is no secret
 */
export async function opensDatabase(sources: SecretSources, canary: string): Promise<boolean> {
  const secrets = await configuredSecrets(sources);
  try {
    secrets.open(canary, canaryContext);
    return true;
  } catch {
    return false;
  }
}

import type { SealedSource } from '../secrets/contract.ts';
import type { SealedCredential } from './tables/credentials.ts';

/** The context of a credential for `secrets.seal` and `secrets.open`. Pure. */
export function credentialContext(accountId: string, name: string): string {
  return `credential:${accountId}:${name}`;
}

/** The credentials of all accounts, for a change of the sealing key. */
export const sealedCredentials: SealedSource = {
  name: 'credentials',
  async page(read, after, limit) {
    const [accountId = '', name = ''] = after?.position ?? [];
    const found = await read.credentials.page({ accountId, name }, limit);
    return found.map((one) => ({
      position: [one.accountId, one.name],
      context: credentialContext(one.accountId, one.name),
      sealed: one.value,
      lock: `lease:${one.accountId}`,
    }));
  },
  async replace(unit, changes) {
    const replaced = changes.map(({ value: { position, sealed: from }, sealed: to }) => {
      const [accountId = '', name = ''] = position;
      const credential: SealedCredential = { accountId, name, value: to };
      return unit.credentials.replace(credential, from);
    });
    await Promise.all(replaced);
  },
};

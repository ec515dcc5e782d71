import type { SealedSource } from '../secrets/contract.ts';
import { proxyContext } from './proxies.ts';

/** The proxies of all accounts, for a change of the sealing key. */
export const sealedProxies: SealedSource = {
  name: 'proxies',
  async page(read, after, limit) {
    const [accountId = ''] = after?.position ?? [];
    const found = await read.accounts.proxies(accountId, limit);
    return found.map(({ id, proxy }) => ({
      position: [id],
      context: proxyContext(id),
      sealed: proxy,
      lock: `lease:${id}`,
    }));
  },
  async replace(unit, changes) {
    const replaced = changes.map(({ value: { position, sealed: from }, sealed: proxy }) =>
      unit.accounts.replaceProxy({ id: position[0] ?? '', proxy }, from),
    );
    await Promise.all(replaced);
  },
};

import type { AnyOperation } from '../../core/operation.ts';
import { type AnyChannelParts, anyChannelOperations } from './operations/any-channel.ts';
import { chatappOperations } from './operations/chatapp.ts';
import { listAccounts } from './operations/list-accounts.ts';
import { listChannels } from './operations/list-channels.ts';
import { type MakeLinkParts, makeLink } from './operations/make-link.ts';
import { msgappOperations } from './operations/msgapp.ts';
import { type OwnerLinkParts, ownerLinkOperations } from './operations/owner-link.ts';
import { type UpdateAccountParts, updateAccount } from './operations/update-account.ts';

/** The operations of accounts and connections: the specification's in its order, then those of any channel. */
export function accountOperations(
  parts: UpdateAccountParts & AnyChannelParts & MakeLinkParts & OwnerLinkParts,
): readonly AnyOperation[] {
  return [
    listAccounts(parts),
    updateAccount(parts),
    ...chatappOperations(parts.connections),
    ...msgappOperations(parts.connections),
    listChannels(parts.channels),
    ...anyChannelOperations(parts),
    makeLink(parts),
    ...ownerLinkOperations(parts),
  ];
}

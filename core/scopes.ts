import type { Caller } from './contracts/caller.ts';
import { GatewayError } from './errors.ts';

/** What a key may be allowed to do. Every operation declares one of them; MCP lists the tools of a key's own. */
export const scopes = ['read', 'send', 'contacts', 'connect', 'webhooks', 'keys'] as const;

/** One of `scopes`. */
export type Scope = (typeof scopes)[number];

/** Rights of a key: what it may do, and with which accounts. */
export type KeyRights = Pick<Caller, 'scopes' | 'accountIds'>;

/** What the declaration of an operation says of the keys that may call it. */
export interface ScopedOperation {
  readonly scope: Scope | null;
  readonly withinAccounts?: true;
}

/** Why a key may not call an operation: `scope_missing`; null when it may. Pure. */
export function scopeRefusal(
  { scopes, accountIds }: KeyRights,
  { scope, withinAccounts }: ScopedOperation,
): GatewayError | null {
  if (scope !== null && scopes !== null && !scopes.has(scope)) return missingScope(scope);
  if (accountIds === null || withinAccounts === true) return null;
  const message =
    'This key is limited to some accounts, and this concerns all of them; use a key without account_ids.';
  return new GatewayError('scope_missing', { message });
}

/** The refusal of a key without this scope. */
export function missingScope(scope: Scope): GatewayError {
  const message = `This key has not the scope "${scope}"; use one that has.`;
  return new GatewayError('scope_missing', { message });
}

/** Whether a key may use an account. */
export function mayUse({ accountIds }: Pick<Caller, 'accountIds'>, accountId: string): boolean {
  return accountIds === null || accountIds.has(accountId);
}

/** Accounts that a request looks at; null: all of the tenant. */
export type WantedAccounts = ReadonlySet<string> | null;

/**
 * The accounts that a request looks at: the one that it names, else those of its key. One that the key may not use is
 * as one that does not exist.
 */
export function wantedAccounts(
  { accountIds }: Pick<Caller, 'accountIds'>,
  named: string | undefined,
): WantedAccounts {
  if (named === undefined) return accountIds;
  return new Set(mayUse({ accountIds }, named) ? [named] : []);
}

/** Whether a request looks at an account. */
export function isWanted(accounts: WantedAccounts, accountId: string | null): boolean {
  return accounts === null || (accountId !== null && accounts.has(accountId));
}

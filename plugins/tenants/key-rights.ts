import type { Caller } from '../../core/contracts/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { wrongField } from '../../core/field-refusals.ts';
import { missingScope, type Scope, scopes } from '../../core/scopes.ts';
import type { KeySettings } from './contract.ts';

/** Scopes of what concerns all accounts of a tenant. */
const tenantWide: readonly Scope[] = ['contacts', 'webhooks', 'keys'];

/** A scope of what concerns all accounts, in a key that is limited to some; null: it has none. Pure. */
function scopeTooWide({ scopes, accountIds }: Pick<KeySettings, 'scopes' | 'accountIds'>) {
  if (accountIds === null) return null;
  return scopes?.find((scope) => tenantWide.includes(scope)) ?? null;
}

/** @throws GatewayError `invalid_request` for a key that names accounts and a scope of what concerns all of them */
export function refuseTooWide(settings: KeySettings): void {
  const wide = scopeTooWide(settings);
  if (wide === null) return;
  throw new GatewayError('invalid_request', {
    message: `A key that is limited to accounts cannot have the scope "${wide}".`,
  });
}

/** What is asked of a new key; what is absent is as the maker has it. */
export interface WantedKey {
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  readonly accountIds?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
  readonly confirmSends?: boolean | undefined;
}

/** The key that makes another one. */
export type Maker = Pick<Caller, 'scopes' | 'confirmSends'> & Pick<KeySettings, 'expiresAt'>;

/**
 * The settings of a new key, which may never more than its maker may. Pure.
 * @throws GatewayError `scope_missing`, or `invalid_request` naming the field
 */
export function keySettingsOf(wanted: WantedKey, maker: Maker): KeySettings {
  const { name, accountIds = null } = wanted;
  return {
    name,
    accountIds,
    scopes: scopesOf(wanted, maker),
    expiresAt: endOf(wanted, maker),
    confirmSends: confirmsOf(wanted, maker),
  };
}

function confirmsOf({ confirmSends }: WantedKey, maker: Maker): boolean {
  if (!maker.confirmSends || confirmSends !== false) return confirmSends ?? maker.confirmSends;
  throw wrongField('body/confirm_sends', 'must be true, as in the key that makes this one');
}

function scopesOf({ scopes: named, accountIds }: WantedKey, maker: Maker): KeySettings['scopes'] {
  const own = maker.scopes === null ? null : [...maker.scopes];
  if (named === undefined) {
    if (accountIds === undefined) return own;
    const left = (own ?? scopes).filter((scope) => !tenantWide.includes(scope));
    if (left.length > 0) return left;
    throw wrongField(
      'body/scopes',
      'would be empty: the key that makes this one has no scope that a key limited to accounts can have',
    );
  }
  const missing = named.find((scope) => maker.scopes?.has(scope) === false);
  if (missing !== undefined) throw missingScope(missing);
  const wide = scopeTooWide({ scopes: named, accountIds: accountIds ?? null });
  if (wide === null) return scopes.filter((scope) => named.includes(scope));
  throw wrongField(
    'body/scopes',
    `names "${wide}", which a key that is limited to accounts cannot have`,
  );
}

function endOf({ expiresAt }: WantedKey, maker: Maker): number | null {
  if (maker.expiresAt === null) return expiresAt ?? null;
  if (expiresAt === undefined || expiresAt <= maker.expiresAt) return expiresAt ?? maker.expiresAt;
  throw wrongField('body/expires_at', 'must not be later than the end of the key that makes it');
}

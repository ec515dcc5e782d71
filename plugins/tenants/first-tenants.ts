import type { Storage } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import type { GatewayLog } from '../../core/log.ts';
import { whenAvailable } from '../../core/starting.ts';
import { type Begun, beginTenantLane, configuration } from './begin-lane.ts';
import type { FirstKeys, NewKey, TenantMode } from './contract.ts';
import { newKey, presetKey } from './keys.ts';

/** The plan of the two first tenants. */
const firstPlan = 'growth';

/** Dependencies of the making of the first tenants. */
export interface FirstTenantsParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly log: GatewayLog;
}

/** Makes the first tenants, see `Tenants.begin`. */
export async function beginTenants(
  { storage, log }: FirstTenantsParts,
  presets: FirstKeys,
): Promise<FirstKeys> {
  const keys = { live: firstKey('live', presets), test: firstKey('test', presets) };
  const pair = [firstTenant('live', keys.live, presets), firstTenant('test', keys.test, presets)];
  // The same ids and keys at each try: what an earlier one stored is found by them.
  const begun = await whenAvailable(() => storage.submit(beginTenantLane, pair));
  logBegun(begun, log);
  // A preset key is known to its operator and never shown.
  const generated = (mode: TenantMode) =>
    presets[mode] === null && begun.some((one) => one.mode === mode && one.made)
      ? keys[mode].key
      : null;
  return { live: generated('live'), test: generated('test') };
}

function firstKey(mode: TenantMode, presets: FirstKeys): NewKey {
  const preset = presets[mode];
  return preset === null ? newKey(mode) : presetKey(preset);
}

function firstTenant(mode: TenantMode, key: NewKey, presets: FirstKeys) {
  const name = mode === 'live' ? 'First live tenant' : 'First test tenant';
  const preset = presets[mode] !== null;
  return { mode, id: newId('ten'), name, plan: firstPlan, key, preset, entryId: newId('aud') };
}

function logBegun(begun: readonly Begun[], log: GatewayLog): void {
  for (const { mode } of begun.filter(({ made }) => made)) {
    log.info({ mode }, 'the first tenant of this mode was made, with its first key');
  }
  for (const { mode, made, added } of begun) {
    // That of a tenant just made is in the line of its tenant.
    if (made || added === null) continue;
    const { tenantId: tenant, id: key } = added;
    log.info({ mode, tenant, key, actor: configuration }, 'a key was made');
  }
  for (const { mode } of begun.filter(({ revoked }) => revoked)) {
    log.warn(
      { mode },
      'the preset API key of this mode was revoked, or its tenant deleted, and stays so: set another one',
    );
  }
}

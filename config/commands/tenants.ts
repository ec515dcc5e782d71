import type { Cradle } from '../../core/container.ts';
import { GatewayError } from '../../core/errors.ts';
import type { AdministrationCommand } from './command.ts';
import { type Output, table } from './output.ts';

type Tenants = Cradle['tenants'];
type Tenant = Awaited<ReturnType<Tenants['list']>>[number];
type Named<Name extends string> = Extract<AdministrationCommand, { name: Name }>;

/** `tenants create` */
export async function createTenant(
  tenants: Tenants,
  { tenant: wanted }: Named<'tenants create'>,
): Promise<Output> {
  const { tenant, key } = await tenants.create(wanted);
  return {
    json: { tenant: shown(tenants, tenant), key: key.key, key_id: key.id },
    text: `${lines([tenant])}\n\nIts key, shown only this once: ${key.key}`,
    changed: { tenantId: tenant.id, target: tenant.id },
  };
}

/** `tenants list` */
export async function listTenants(tenants: Tenants): Promise<Output> {
  const all = await tenants.list();
  return { json: { tenants: all.map((one) => shown(tenants, one)) }, text: lines(all) };
}

/** `tenants update` */
export async function updateTenant(
  tenants: Tenants,
  { id, plan, status, enable, disable }: Named<'tenants update'>,
): Promise<Output> {
  const changes = {
    ...(plan === undefined ? {} : { plan }),
    ...(status === undefined ? {} : { status }),
  };
  const tenant = await tenants.update(id, { ...changes, enable, disable });
  if (tenant === null) throw noTenant(id);
  return {
    json: { tenant: shown(tenants, tenant) },
    text: lines([tenant]),
    changed: { tenantId: id, target: id },
  };
}

/** `tenants delete`; without `--yes` it changes nothing. */
export async function deleteTenant(
  tenants: Tenants,
  { id, isSure }: Named<'tenants delete'>,
): Promise<Output> {
  const counts = await tenants.counts(id);
  if (counts === null) throw noTenant(id);
  const has = Object.entries(counts)
    .map(([what, count]) => `${count} ${what.replace('_', ' ')}`)
    .join(', ');
  const json = { tenant_id: id, deleted: isSure, counts };
  if (!isSure) {
    const text = `${id} has ${has}. Repeat the command with --yes to erase all of it, for ever.`;
    return { json, text, code: 1 };
  }
  await tenants.delete(id);
  return {
    json,
    text:
      `${id} is deleted: its keys are useless within 2 seconds, and running gateways erase ${has}.\n` +
      '"tenants list" shows it until nothing is left.',
    // Of no tenant: the record of the deletion is not erased with the rest.
    changed: { tenantId: null, target: id },
  };
}

/** The refusal of an id that no tenant has. */
export function noTenant(id: string): GatewayError {
  return new GatewayError('not_found', { message: `There is no tenant "${id}".` });
}

function shown(tenants: Tenants, tenant: Tenant) {
  const { id, name, mode, plan, status } = tenant;
  return { id, name, mode, plan, status, features: tenants.features(tenant) };
}

function lines(tenants: readonly Tenant[]): string {
  return table(
    ['ID', 'MODE', 'PLAN', 'STATUS', 'NAME', 'SWITCHED OFF'],
    tenants.map(({ id, mode, plan, status, name, disabled }) => [
      id,
      mode,
      plan,
      status,
      name,
      disabled.join(', '),
    ]),
  );
}

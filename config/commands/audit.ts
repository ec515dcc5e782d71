import type { Cradle } from '../../core/container.ts';
import { timestamp } from '../../core/schemas.ts';
import type { AdministrationCommand } from './command.ts';
import { type Output, table } from './output.ts';

/** `audit` */
export async function listAudit(
  audit: Cradle['audit'],
  { tenantId, limit }: Extract<AdministrationCommand, { name: 'audit' }>,
): Promise<Output> {
  const entries = (await audit.list(tenantId, limit)).map((entry) => ({
    at: timestamp(entry.at),
    tenant_id: entry.tenantId,
    actor: entry.actor,
    operation: entry.operation,
    target: entry.target,
    request_id: entry.requestId,
    outcome: entry.outcome,
  }));
  return {
    json: { entries },
    text: table(
      ['TIME', 'TENANT', 'WHO', 'DID', 'TO', 'REQUEST', 'OUTCOME'],
      entries.map((entry) => Object.values(entry).map((value) => value ?? '')),
    ),
  };
}

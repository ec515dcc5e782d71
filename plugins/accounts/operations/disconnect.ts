import { type AnyOperation, type OperationGroup, operation } from '../../../core/operation.ts';
import { Closed, OneOf } from '../../../core/schemas.ts';
import type { Connections } from '../connections.ts';
import { ConnectionParams, PhoneNumber } from './schemas.ts';

/** `removed`, as every DELETE of a connection answers it. */
export const RemovedStatus = OneOf(['removed'], {
  description: 'the number was deleted from the account',
});

/** The texts of one family's DELETE. */
export interface DisconnectOperation {
  readonly id: string;
  readonly path: string;
  readonly group: OperationGroup;
  readonly channel: string;
  /** The fate of the link, and the only way to get it back: `Ends the link`, `pairing again`. */
  readonly ends: string;
  readonly only: string;
}

/** The DELETE of a family whose identifiers are phone numbers. */
export function disconnect(
  connections: Connections,
  { id, path, group, channel, ends, only }: DisconnectOperation,
): AnyOperation {
  return operation({
    id,
    method: 'DELETE',
    path,
    tool: id,
    scope: 'connect',
    withinAccounts: true,
    group,
    summary: `Disconnect a ${group} number and remove it`,
    description: disconnectDescription(ends, only),
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: ConnectionParams,
    query: null,
    body: null,
    answers: { 200: Closed({ phone_number: PhoneNumber, status: RemovedStatus }) },
    errors: ['connection_not_found'],
    examples: [
      {
        summary: 'Removed',
        params: { phoneNumber: '+15550001111' },
        answer: { status: 200, body: { phone_number: '+15550001111', status: 'removed' } },
      },
    ],
    async handler({ caller, params }) {
      const removed = await connections.remove(caller, channel, params.phoneNumber);
      const body = { phone_number: removed.identifier, status: 'removed' } as const;
      return { status: 200, body, changed: removed.id };
    },
  });
}

/** Carries out every DELETE of a connection. */
export function disconnectDescription(ends: string, only: string): string {
  return (
    `${ends} and removes the account; its queued messages fail, its messages and contacts stay. ` +
    'Succeeds even when the connection service is unreachable. A repeated call answers ' +
    `\`connection_not_found\`. Ask the user first: only ${only} brings the number back, as a new account, which no ` +
    'key with `account_ids` can connect.'
  );
}

import type { Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Audit, AuditEntry, AuditedChange } from './contract.ts';
import { beginChange, completeChange, withdrawChange } from './lanes.ts';

/** Dependencies of the recording of changes. */
export interface RecordingParts {
  readonly storage: Pick<Storage, 'submit'>;
  readonly log: GatewayLog;
}

/**
 * Makes changes that leave entries. The entry is stored first: without it nothing is changed, and once a change is made
 * no failure of the entry hides its answer. A refused change leaves none.
 */
export function makeRecording({ storage, log }: RecordingParts): Audit['recording'] {
  return async (entry, change, changedBy) => {
    const id = newId('aud');
    await storage.submit(beginChange, { ...entry, id });
    const result = await change().catch(async (error: unknown) => {
      if (isRefusal(error)) await withdraw(id);
      throw error;
    });
    const changed = changedBy(result);
    await (changed === null ? withdraw(id) : complete(id, entry, changed));
    return result;
  };

  async function complete(id: string, entry: AuditEntry, changed: AuditedChange): Promise<void> {
    await storage.submit(completeChange, { id, ...changed }).catch((error: unknown) => {
      const message = 'a change was made, and its entry in the audit does not say so';
      log.error({ err: error, audit: { id, ...entry, ...changed } }, message);
    });
  }

  async function withdraw(id: string): Promise<void> {
    await storage.submit(withdrawChange, id).catch((error: unknown) => {
      log.warn({ err: error, audit: { id } }, 'the entry of a refused change stays in the audit');
    });
  }
}

/** Whether an error says that nothing was changed; any other leaves it open. Pure. */
function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && (error.unchanged || error.status < 500);
}

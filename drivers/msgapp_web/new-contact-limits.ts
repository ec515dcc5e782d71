import type { NewChatMessageCapInfo } from 'baileys';
import type { DriverEvent } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import type { LibrarySocket } from './library.ts';

/** What the network says of a refusal of a new contact. */
export interface NewContactLimit {
  /** False: it says that the account may write to new contacts. */
  readonly isActive: boolean;
  /** Milliseconds since the Unix epoch; null: it does not say. */
  readonly until: number | null;
}

/** Dependencies of `NewContactLimits`. */
export interface NewContactLimitsParts {
  readonly keys: AccountKeys;
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
}

/** The network's limits on new contacts: a lock for some time, and a quota. Asks for them, and reports what they are. */
export class NewContactLimits {
  readonly #parts: NewContactLimitsParts;

  constructor(parts: NewContactLimitsParts) {
    this.#parts = parts;
  }

  /** Reports each quota that the network says is used up. */
  follow({ ev }: LibrarySocket): void {
    ev.on('message-capping.update', (quota) => void this.#usedUp(quota));
  }

  /** Asks whether a lock is on; the network's answer is reported through `locked`. Null: it did not answer. */
  async lock(socket: LibrarySocket): Promise<NewContactLimit | null> {
    try {
      const { isActive, timeEnforcementEnds } = await socket.fetchAccountReachoutTimelock();
      return { isActive: isActive ?? false, until: timeEnforcementEnds?.getTime() ?? null };
    } catch {
      return null;
    }
  }

  /** Asks how long the quota stays used up, and reports it. Null: the network did not answer. */
  async quota(socket: LibrarySocket): Promise<NewContactLimit | null> {
    try {
      const quota = await socket.fetchNewChatMessageCap();
      await this.#usedUp(quota);
      return { isActive: isUsedUp(quota), until: endOf(quota) };
    } catch {
      return null;
    }
  }

  /** The network has put a lock on, or taken it off. */
  async locked({ isActive, until }: NewContactLimit): Promise<void> {
    const { keys } = this.#parts;
    if (!isActive && !keys.restricted) return;
    keys.restricted = isActive;
    if (isActive) await this.#restricted(until, 'The network lets this account write to');
    else await this.#emit({ type: 'state', state: 'unrestricted' });
  }

  /** Without an end it is not reported: nobody could say when it is over. */
  async #usedUp(quota: NewChatMessageCapInfo): Promise<void> {
    const until = endOf(quota);
    if (until === null || !isUsedUp(quota)) return;
    const { total_quota: total } = quota;
    const size = total === undefined ? '' : ` of ${total}`;
    await this.#restricted(until, `The network's quota${size} is used up:`);
  }

  async #restricted(until: number | null, why: string): Promise<void> {
    await this.#emit({
      type: 'state',
      state: 'restricted',
      scope: 'new_contacts',
      until,
      reason: 'blocked_by_msgapp',
      detail: `${why} no new contacts ${endText(until)}.`,
    });
  }

  async #emit(event: DriverEvent): Promise<void> {
    await this.#parts.emit(event).catch(() => undefined);
  }
}

/** The end of a limit as a sentence says it. */
export function endText(until: number | null): string {
  return until === null ? 'for now' : `until ${new Date(until).toISOString()}`;
}

function isUsedUp({ capping_status: status }: NewChatMessageCapInfo): boolean {
  return status === 'CAPPED';
}

function endOf({ cycle_end_timestamp: end }: NewChatMessageCapInfo): number | null {
  const seconds = Number(end ?? 0);
  return seconds > 0 ? seconds * 1_000 : null;
}

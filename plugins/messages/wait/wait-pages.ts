import type { Storage, Tables } from '../../../core/contracts/storage.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import { accountsKey, type WaitResult, waitPageSize } from './wait-result.ts';

/** What a long poll reads. */
export interface WaitQuestion {
  readonly tenantId: string;
  /** Of these accounts only; null for all of the tenant. */
  readonly accounts: WantedAccounts;
  /** The number of the last message seen. */
  readonly position: number;
}

/**
 * Reads what comes after a position: an empty page where there is nothing.
 * @param last up to this number all messages are committed, or none is stored meanwhile
 */
export async function readPage(
  { messages }: Pick<Tables, 'messages'>,
  { tenantId, accounts, position }: WaitQuestion,
  last: number,
): Promise<WaitResult> {
  const pages = [...(accounts ?? [null])].map((accountId) =>
    messages.inboundAfter(tenantId, position, accountId, waitPageSize),
  );
  const page = (await Promise.all(pages))
    .flat()
    .filter(({ inboundSequence }) => (inboundSequence ?? 0) <= last)
    .sort((one, other) => (one.inboundSequence ?? 0) - (other.inboundSequence ?? 0))
    .slice(0, waitPageSize);
  return { messages: page, position: page.at(-1)?.inboundSequence ?? position };
}

/** One text for long polls that read the same, and so share a read and its result. It begins with the tenant. */
export function questionKey({ tenantId, accounts, position }: WaitQuestion): string {
  return `${tenantId} ${accountsKey(accounts)} ${position}`;
}

/** The pages that waits of this process read outside of transactions. */
export class WaitPages {
  readonly #read: Pick<Storage['read'], 'messages' | 'tenants'>;
  readonly #underWay = new Map<string, Promise<WaitResult>>();

  constructor(read: Pick<Storage['read'], 'messages' | 'tenants'>) {
    this.#read = read;
  }

  /** Readers at the same position share a read that is under way, and its answer. */
  page(question: WaitQuestion): Promise<WaitResult> {
    const key = questionKey(question);
    const shared = this.#underWay.get(key);
    if (shared !== undefined) return shared;
    const reading = this.#pageOf(question).finally(() => {
      if (this.#underWay.get(key) === reading) this.#underWay.delete(key);
    });
    this.#underWay.set(key, reading);
    return reading;
  }

  /** The number of the tenant's last message: all up to it are committed. */
  async latest(tenantId: string): Promise<number> {
    const latest = await this.#read.tenants.inboundSequences([tenantId]);
    return latest.get(tenantId) ?? 0;
  }

  /** The tenant received something, which a read under way may have missed: later readers do not join it. */
  renew(tenantId: string): void {
    for (const key of this.#underWay.keys()) {
      if (key.startsWith(`${tenantId} `)) this.#underWay.delete(key);
    }
  }

  async #pageOf(question: WaitQuestion): Promise<WaitResult> {
    const { accounts, tenantId } = question;
    // Several accounts are several reads: what commits between them is left to the next read, as the cursor could pass it.
    const last = (accounts?.size ?? 1) < 2 ? Infinity : await this.latest(tenantId);
    return await readPage(this.#read, question, last);
  }
}

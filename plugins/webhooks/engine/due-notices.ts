import type { Broker, Release } from '../../../core/contracts/broker.ts';
import type { Json } from '../../../core/contracts/json.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import type { DeliveryOfEvent } from './fan-out.ts';

/** A receiver to which something is due. */
export interface DueReceiver {
  readonly receiverId: string;
  /** The process that holds the receiver's lease, dead or alive, as the transaction read it; null: none. */
  readonly owner: string | null;
  /** Since when, on the database's clock. */
  readonly dueAt: number;
}

/** Called after a commit with the receivers to which something is due. */
export type Due = (receivers: readonly DueReceiver[]) => void;

/** Called with the receivers that a notice names, null when it names none, and with their due time. */
type Wake = (receiverIds: readonly string[] | null, dueAt: number) => void;

const topic = 'deliveries';

/** The topic that one process alone listens to: hints to all of them would grow with the square of their number. */
function topicOf(processId: string): string {
  return `${topic}.${processId}`;
}

/** The receivers of deliveries that were just made, each once. */
export function receiversOf(
  made: readonly Pick<DeliveryOfEvent<never>, 'webhook'>[],
  dueAt: number,
): readonly DueReceiver[] {
  const owners = new Map(made.map(({ webhook }) => [webhook.receiverId, webhook.owner]));
  return [...owners].map(([receiverId, owner]) => ({ receiverId, owner, dueAt }));
}

/** Makes receivers due now, each with the owner that it has in this transaction. */
export async function wakeNow(
  { receivers, now, afterCommit }: Unit,
  receiverIds: readonly string[],
  due: Due,
): Promise<void> {
  if (receiverIds.length === 0) return;
  await receivers.wake(receiverIds, now);
  const woken = await receivers.leases.find(receiverIds);
  afterCommit(() => due(woken.map(({ id, owner }) => ({ receiverId: id, owner, dueAt: now }))));
}

/** Notifies the owners of these receivers, and every process of those without one. */
export function notifyOwners(broker: Broker, due: readonly DueReceiver[]): void {
  for (const owner of new Set(due.map((one) => one.owner))) {
    const own = due.filter((one) => one.owner === owner);
    broker.toAll(owner === null ? topic : topicOf(owner), {
      receivers: own.map(({ receiverId }) => receiverId),
      dueAt: Math.max(...own.map(({ dueAt }) => dueAt)),
    });
  }
}

/** Notifies every process that something may be due to any receiver. */
export function notifyAll(broker: Broker): void {
  broker.toAll(topic, {});
}

/** Listens for such notices until released. */
export async function listenForDue(broker: Broker, wake: Wake): Promise<readonly Release[]> {
  const handle = (message: Json) => wake(...read(message));
  return [
    await broker.listen(topic, handle),
    await broker.listen(topicOf(broker.processId), handle),
  ];
}

/** What a notice says; one that nobody understands says that something is due to any receiver. */
function read(message: Json): Parameters<Wake> {
  const any: Parameters<Wake> = [null, 0];
  if (typeof message !== 'object' || message === null) return any;
  if (!('receivers' in message && 'dueAt' in message)) return any;
  const { receivers, dueAt } = message;
  if (!Array.isArray(receivers) || typeof dueAt !== 'number') return any;
  return receivers.every((id) => typeof id === 'string') ? [receivers, dueAt] : any;
}

import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { AccountReason } from '../../accounts/contract.ts';
import type { EventRecord, StoredMessage } from '../contract.ts';
import { messageEvent } from '../events.ts';
import { failures } from '../failures.ts';
import { logFailed } from '../log-failed.ts';
import { answered, failed, type Step, takenByNetworkAt } from '../status.ts';

/** How many messages are failed at once. */
const pageSize = 500;

/**
 * Fails the queued messages of an account that is removed or logged out, inside that change's transaction. Of
 * one that was handed to the network and not answered nobody will hear again: it fails as uncertain, unless a
 * receipt has shown that it arrived.
 */
export async function abandonQueued(
  unit: Unit,
  accountId: string,
  reason: AccountReason,
  log: GatewayLog,
): Promise<void> {
  for (;;) {
    const queued = await unit.messages.queuedForChange(accountId, pageSize);
    const moved = await enterSteps(unit, log, queued, (message) => {
      if (message.dispatchedAt === null) {
        return failed(message, failures.account(reason), unit.now);
      }
      const takenAt = takenByNetworkAt(message);
      return takenAt === null
        ? failed(message, failures.delivery_uncertain(), unit.now)
        : answered(message, null, takenAt);
    });
    if (moved < pageSize) return;
  }
}

/**
 * Forgets a contact that is made private, inside that change's transaction: its undispatched messages fail with
 * `contact_private`, emptied and without an event, all others are deleted, and so are the events of all of them
 * with their deliveries.
 */
export async function forgetContact(
  unit: Unit,
  tenantId: string,
  contactId: string,
  log: GatewayLog,
): Promise<void> {
  const undispatched = await unit.messages.undispatchedOfContact(contactId);
  const changed = undispatched.flatMap(
    (message) => failed(message, failures.contact_private(), unit.now)?.message ?? [],
  );
  await unit.messages.save(changed);
  logFailed(unit, log, changed);
  const kept = new Set(changed.map((message) => message.id));
  await unit.messages.blank([...kept]);
  const ids = await unit.messages.idsOfContact(contactId);
  // First: whoever is just raising an event about one of them has it locked, and what it raises goes with the rest.
  await unit.messages.delete(ids.filter((id) => !kept.has(id)));
  await unit.events.deleteOfSubjects(tenantId, ids);
  await unit.deliveries.deleteOfSubjects(tenantId, ids);
}

/**
 * The lane of the sweep that fails what nobody will send: undispatched messages that waited too long, and what
 * was accepted while its account was just being removed or logged out.
 */
export function makeExpireLane(expireMs: number, log: GatewayLog): Lane<string, void> {
  return {
    name: 'messages.expire',
    maxBatch: 16,
    locks: (accountId) => [`lease:${accountId}`],
    async run(unit, accountIds) {
      const accounts = await unit.accounts.find([...new Set(accountIds)]);
      for (const { id, removedAt, status, reason } of accounts) {
        if (removedAt !== null) await abandonQueued(unit, id, 'removed', log);
        else if (status === 'disconnected') {
          await abandonQueued(unit, id, reason ?? 'session_lost', log);
        } else await expire(unit, id, expireMs, log);
      }
      return accountIds.map(() => undefined);
    },
  };
}

async function expire(
  unit: Unit,
  accountId: string,
  expireMs: number,
  log: GatewayLog,
): Promise<void> {
  const before = unit.now - expireMs;
  for (;;) {
    const waiting = await unit.messages.queuedForChange(accountId, pageSize, before, true);
    const moved = await enterSteps(unit, log, waiting, (message) =>
      failed(message, failures.expired(expireMs / 3_600_000), unit.now),
    );
    if (moved < pageSize) return;
  }
}

/** Decides about each message and writes what follows; answers how many were changed. */
async function enterSteps(
  unit: Unit,
  log: GatewayLog,
  messages: readonly StoredMessage[],
  decide: (message: StoredMessage) => Step | null,
): Promise<number> {
  const contacts = await unit.contacts.byIds(messages.map((message) => message.contactId));
  const contactOf = new Map(contacts.map((contact) => [contact.id, contact]));
  const changed: StoredMessage[] = [];
  const events: EventRecord[] = [];
  for (const message of messages) {
    const step = decide(message);
    const contact = contactOf.get(message.contactId);
    if (step === null || contact === undefined) continue;
    changed.push(step.message);
    for (const one of step.raised) {
      events.push(messageEvent(one.message, contact, one.status, unit.now));
    }
  }
  await unit.messages.save(changed);
  logFailed(unit, log, changed);
  await unit.events.record(events);
  return changed.length;
}

import type { ReceiptEvent } from '../../core/contracts/driver.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import type { Fence } from '../accounts/contract.ts';
import type { EventRecord, StoredMessage } from './contract.ts';
import { messageEvent } from './events.ts';
import { receive } from './moves.ts';
import { storedNetworkId } from './network-ids.ts';

/** One receipt of one session. */
export interface ReceiptInput {
  readonly fence: Fence;
  readonly receipt: ReceiptEvent;
}

/** `unknown`: it names no message of the account. `lost`: the session does not hold its lease any more. */
export type ReceiptOutput = 'entered' | 'unknown' | 'lost';

/** The lane in which receipts move messages forward, each with its event. */
export const receiptLane: Lane<ReceiptInput, ReceiptOutput> = {
  name: 'messages.receipt',
  locks: ({ fence }) => [`lease:${fence.accountId}`],
  async run(unit, inputs) {
    const held = await unit.leases.heldBy(inputs.map((input) => input.fence));
    const named = await unit.messages.byNetworkIds(
      'outbound',
      inputs.flatMap(({ fence: { accountId }, receipt: { networkId } }) =>
        networkId === null ? [] : [{ accountId, networkId: storedNetworkId(networkId) }],
      ),
    );
    const byNetworkId = new Map(named.map((one) => [`${one.accountId} ${one.networkId}`, one.id]));
    const references = inputs.flatMap(({ receipt }) => receipt.reference ?? []);
    const rows = await unit.messages.forChange([...references, ...byNetworkId.values()]);
    const messages = new Map<string, StoredMessage>(rows.map((row) => [row.id, row]));
    const contacts = await unit.contacts.byIds(rows.map((row) => row.contactId));
    const contactOf = new Map(contacts.map((contact) => [contact.id, contact]));
    const changed = new Map<string, StoredMessage>();
    const events: EventRecord[] = [];
    const outputs = inputs.map(({ fence: { accountId }, receipt }): ReceiptOutput => {
      if (!held.has(accountId)) return 'lost';
      const place = `${accountId} ${storedNetworkId(receipt.networkId ?? '')}`;
      const message = [receipt.reference ?? '', byNetworkId.get(place) ?? '']
        .map((id) => messages.get(id))
        .find((one) => one?.accountId === accountId);
      const contact = contactOf.get(message?.contactId ?? '');
      if (message === undefined || contact === undefined) return 'unknown';
      const step = receive(message, receipt);
      if (step === null) return 'entered';
      messages.set(message.id, step.message);
      changed.set(message.id, step.message);
      for (const one of step.raised) {
        events.push(messageEvent(one.message, contact, one.status, unit.now));
      }
      return 'entered';
    });
    await unit.messages.save([...changed.values()]);
    await unit.events.record(events);
    return outputs;
  },
};

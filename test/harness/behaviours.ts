import type { Test } from 'tap';
import type { Client } from './client.ts';
import type { Workplace } from './exactness.ts';
import { openRows } from './rows.ts';
import { checkExactly, type Ending, type Line, read, type Sending } from './sending.ts';
import { connected, pair, phoneNumber } from './story.ts';
import { checkDeliveries, type Subscriber } from './subscriber.ts';

/** How the network treats what a phone sends, and what then becomes of it. */
interface Behaviour {
  readonly settings: object;
  readonly ending: Ending;
}

const delivered: Ending = { status: 'delivered', error: null, events: ['delivered', 'sent'] };
const reason = 'blocked_by_contact: the contact has blocked this number';
const failed: Ending = { status: 'failed', error: reason, events: ['failed'] };

/** Receipts come at once, or when the next messages are already under way, or never; some are refused. */
const behaviours: readonly Behaviour[] = [
  { settings: { send: 'read' }, ending: read },
  { settings: { send: 'read', latency_ms: 5 }, ending: read },
  { settings: { send: 'read', latency_ms: 40 }, ending: read },
  { settings: { send: 'deliver', latency_ms: 10 }, ending: delivered },
  { settings: { send: 'fail', fail_reason: reason, latency_ms: 10 }, ending: failed },
];

const behaviourOf = (place: number): Behaviour =>
  behaviours[place % behaviours.length] as Behaviour;

/** Pairs so many numbers, whose phones behave in all these ways in turn. */
export async function pairBehaving(api: Client, count: number): Promise<readonly Line[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, place) => {
      const phone = phoneNumber(place);
      const account = await pair(api, phone);
      const set = await api.put(`/sandbox/phones/${phone}`, behaviourOf(place).settings);
      if (set.status !== 200) throw new Error(JSON.stringify(set.body));
      return { phone, account };
    }),
  );
}

/**
 * Waits for the end of the sends of numbers that `pairBehaving` has paired, counts everywhere, at the subscriber's
 * receivers too, and stops the gateways.
 */
export async function checkBehaving(
  t: Test,
  { gateways, databaseUrl }: Workplace,
  sending: Sending,
  subscriber?: Subscriber,
): Promise<void> {
  const [{ api }] = gateways;
  await sending.finished;
  for (const { phone } of sending.lines) await connected(api, phone);
  const places = new Map(sending.lines.map(({ phone }, place) => [phone, place]));
  const endingOf = ({ phone }: Line): Ending => behaviourOf(places.get(phone) ?? 0).ending;
  const rows = openRows(t, databaseUrl);
  await checkExactly(t, api, rows, sending.lines, endingOf);
  if (subscriber !== undefined) await checkDeliveries(t, rows, subscriber);
  for (const gateway of gateways) t.equal(await gateway.stop(), 0, 'a clean stop');
}

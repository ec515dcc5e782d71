import { clockNow } from '../bench/clock.ts';
import { runLoad } from '../bench/load.ts';
import { median } from '../bench/statistics.ts';
import type { RunningGateway } from '../harness/gateway.ts';
import { friends, type LiveNetwork } from '../harness/live-network.ts';
import type { Line } from '../harness/sending.ts';
import { until } from '../harness/story.ts';

/** A gateway and one of its accounts. */
export interface BurstSide {
  readonly network: LiveNetwork;
  readonly gateway: RunningGateway;
  readonly line: Line;
}

/** Clients that send at the same time. */
const clients = 16;

let bursts = 0;

/**
 * Has one account send so much at once, on both sides in turns; the first turns warm up. What the accounts send is no
 * longer shown by their networks.
 * @returns the median rates, from the first request to the last message at the network, messages a second
 */
export async function burstRates(
  sides: readonly [BurstSide, BurstSide],
  { sends, rounds }: { readonly sends: number; readonly rounds: number },
): Promise<readonly [number, number]> {
  const [first, second] = sides;
  const rates: (readonly [number, number])[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    rates.push([await burst(first, sends), await burst(second, sends)]);
  }
  const measured = rates.slice(1);
  return [median(measured.map(([one]) => one)), median(measured.map(([, other]) => other))];
}

/** @throws Error unless each came once */
async function burst({ network, gateway, line }: BurstSide, sends: number): Promise<number> {
  const { control } = network;
  const { phone, account } = line;
  bursts += 1;
  const texts = Array.from({ length: sends }, (_, n) => `burst ${bursts}, ${n}`);
  await control.measure(phone, { answerAfterMs: 0, held: false });
  const headers = { 'content-type': 'application/json', 'x-api-key': gateway.liveKey };
  const begunAt = clockNow();
  await runLoad({
    origin: new URL(gateway.baseUrl).origin,
    clients,
    requests: sends,
    status: 202,
    request(n) {
      const to = { phone: friends[n % friends.length] };
      const body = JSON.stringify({ account_id: account, to, text: texts[n] });
      return { path: '/v1/messages', headers, body };
    },
  });
  await until('the burst to be at the network', async () =>
    (await control.measuredCount(phone)) >= sends ? true : undefined,
  );
  const came = await control.measuredSends(phone);
  const shown = came.map(({ text }) => text).toSorted();
  if (shown.join() !== texts.toSorted().join()) throw new Error(`came: ${shown}`);
  return (sends / ((came.at(-1)?.at ?? Number.NaN) - begunAt)) * 1_000;
}

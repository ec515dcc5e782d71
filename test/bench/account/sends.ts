import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/story.ts';
import type { MeasuredSend } from '../../networks/measured-sends.ts';
import type { Found } from '../bench.ts';
import { clockNow } from '../clock.ts';
import { computedMs } from '../process-usage.ts';
import { median } from '../statistics.ts';
import type { AccountSide, AccountSides } from './sides.ts';
import { perContact, type Text, textsTo } from './texts.ts';

/** How long the sender has to become quiet, milliseconds. */
const restMs = 200;
/** How long all of a turn may take to come, milliseconds. */
const turnMs = 60_000;

/** How a queue is drained. */
export interface Draining {
  readonly contacts: number;
  readonly count: number;
  readonly answerAfterMs: number;
}

/**
 * Fills the side's queue while the network answers nothing, then lets it answer.
 * @returns messages a second at the network from then on, and the side's processor time for each in milliseconds
 */
export async function drain(
  { control }: AccountSides,
  side: AccountSide,
  { contacts, count, answerAfterMs }: Draining,
): Promise<Found<'rate' | 'busy'>> {
  const texts = textsTo(contacts, count);
  await control.measure(side.phone, { answerAfterMs, held: true });
  await side.take(texts);
  await sleep(restMs);
  const before = computedMs(side.pid());
  const releasedAt = await control.release(side.phone);
  const sends = await arrived({ control }, side, texts);
  const spentMs = computedMs(side.pid()) - before;
  const drained = sends.filter(({ at }) => at >= releasedAt);
  const tookMs = (drained.at(-1)?.at ?? Number.NaN) - releasedAt;
  return { rate: (drained.length / tookMs) * 1_000, busy: spentMs / drained.length };
}

/** Median delays until a message is at the network, milliseconds. */
export type Delays = Found<'fromRequest' | 'from202'>;

/** One client sends back to back. */
export async function backToBack(sides: AccountSides, texts: readonly Text[]): Promise<Delays> {
  const askedAt = new Map<string, number>();
  const acceptedAt = new Map<string, number>();
  const { control, gateway } = sides;
  await control.measure(gateway.phone, { answerAfterMs: 0, held: false });
  await gateway.send(texts, {
    asked: ({ text }) => askedAt.set(text, clockNow()),
    accepted: ({ text }) => acceptedAt.set(text, clockNow()),
  });
  const sends = await arrived(sides, gateway, texts);
  const since = (times: ReadonlyMap<string, number>) =>
    median(sends.map(({ text, at }) => at - (times.get(text) ?? Number.NaN)));
  return { fromRequest: since(askedAt), from202: since(acceptedAt) };
}

/** The same of texts each of which is sent when nothing else is under way. */
export async function idle(sides: AccountSides, texts: readonly Text[]): Promise<Delays> {
  const delays: Delays[] = [];
  for (const text of texts) {
    delays.push(await backToBack(sides, [text]));
    await sleep(restMs);
  }
  return {
    fromRequest: median(delays.map(({ fromRequest }) => fromRequest)),
    from202: median(delays.map(({ from202 }) => from202)),
  };
}

/**
 * Waits until all have come and the side is done.
 * @throws Error unless each came once, and those to one contact in order
 */
async function arrived(
  { control }: Pick<AccountSides, 'control'>,
  { phone, settled }: AccountSide,
  texts: readonly Text[],
): Promise<readonly MeasuredSend[]> {
  const all = async () => (await control.measuredCount(phone)) >= texts.length || undefined;
  await until(`${texts.length} messages of ${phone}`, all, turnMs);
  await settled();
  const sends = await control.measuredSends(phone);
  const came = inOrder(sends);
  const wanted = inOrder(texts);
  if (came === wanted) return sends;
  throw new Error(`${phone} sent otherwise than it was told: ${came}; wanted ${wanted}`);
}

function inOrder(texts: readonly Text[]): string {
  const all = [...perContact(texts)].map(([to, own]) => [to, ...own.map(({ text }) => text)]);
  return JSON.stringify(all.toSorted());
}

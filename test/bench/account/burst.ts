import type { Found } from '../bench.ts';
import type { AccountSide, AccountSides } from './sides.ts';
import { textsTo } from './texts.ts';

/**
 * Contacts write so much in the same moment.
 * @returns how long it takes until all is at the side's receiver of webhooks, milliseconds
 * @throws Error unless each came once
 */
export async function burst(
  { control, receivers }: AccountSides,
  side: AccountSide,
  { contacts, count }: { readonly contacts: number; readonly count: number },
): Promise<Found<'took'>> {
  const texts = textsTo(contacts, count);
  const written = texts.map(({ to, text }) => ({ from: to, name: 'Ada', text }));
  const startedAt = await control.writeAtOnce(side.phone, written);
  const arrivals = await receivers.arrived(count);
  const came = arrivals.map(({ receiver, text }) => `${receiver} ${text}`).toSorted();
  const wanted = texts.map(({ text }) => `${side.receiver} ${text}`).toSorted();
  if (came.join() !== wanted.join()) throw new Error(`came: ${came}; wanted: ${wanted}`);
  await side.settled();
  return { took: (arrivals.at(-1)?.at ?? Number.NaN) - startedAt };
}

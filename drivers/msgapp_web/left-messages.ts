import type { Port } from '../../core/contracts/driver.ts';
import { untilAborted } from '../../core/waiting.ts';
import { allOf } from './all-of.ts';
import { arrivingName } from './arriving.ts';
import { ArrivingMessage } from './arriving-message.ts';
import type { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import { loadLibrary } from './library.ts';
import { underFirst } from './under-first.ts';

/** In which the gateway is given what is left, in milliseconds: the end of the link is reported after it. */
const handOverMs = 5_000;

/** Messages that the gateway is given at once: it keeps a contact's order, and has room for 64. */
const atOnce = 32;

/**
 * Hands over the messages that still wait for a file, in their order and without it: their connection has ended for long,
 * and the network does not have them any more. What is not stored in time stays with the credentials. Never rejects.
 * @param superseded aborts when another connection begins, which then has the messages
 */
export async function handOverLeft(
  port: Port,
  erased: Erased,
  accountId: string,
  superseded: AbortSignal,
): Promise<void> {
  const signals = [superseded, AbortSignal.timeout(handOverMs)];
  try {
    await underFirst(signals, (signal) => untilAborted(signal, handOver(port, erased, signal)));
  } catch (error) {
    if (superseded.aborted) return;
    const fields = { accountId, error: errorText(error) };
    port.log.warn(fields, 'messages that wait for a file could not be stored without it');
  }
}

async function handOver(port: Port, erased: Erased, signal: AbortSignal): Promise<void> {
  const { credentials } = port;
  const { [arrivingName]: list } = await credentials.get([arrivingName]);
  if (list === undefined) return;
  const library = await loadLibrary();
  // Written by `Arriving`, and nobody else writes under these names.
  const names = JSON.parse(list) as string[];
  for (let first = 0; first < names.length; first += atOnce) {
    const group = names.slice(first, first + atOnce);
    // Read group by group: an erasure may delete some meanwhile.
    const stored = await credentials.get(group);
    if (signal.aborted) return;
    const texts = group.flatMap((name) => stored[name] ?? []);
    const left = texts.map((text) => ArrivingMessage.stored(library, text));
    await allOf(left.map((message) => erased.emit(port, message.eventWithoutFile())));
  }
  // Another connection may have added to the list.
  if (signal.aborted) return;
  await credentials.set(Object.fromEntries([arrivingName, ...names].map((name) => [name, null])));
}

import type { Port } from '../../core/contracts/driver.ts';
import { arrivingName } from './arriving.ts';
import { ArrivingMessage } from './arriving-message.ts';
import { beforeAbort } from './before-abort.ts';
import { errorText } from './error-text.ts';
import { loadLibrary } from './library.ts';

/** In which the gateway is given what is left, in milliseconds: the end of the link is reported after it. */
const handOverMs = 5_000;

/**
 * Hands over the messages that still wait for a file, in their order and without it: their connection has ended for long,
 * and the network does not have them any more. What is not stored in time stays with the credentials. Never rejects.
 */
export async function handOverLeft(port: Port, accountId: string): Promise<void> {
  const inTime = AbortSignal.timeout(handOverMs);
  try {
    await beforeAbort(inTime, handOver(port, inTime));
  } catch (error) {
    const facts = { accountId, error: errorText(error) };
    port.log.warn(facts, 'messages that wait for a file could not be stored without it');
  }
}

async function handOver(port: Port, inTime: AbortSignal): Promise<void> {
  const { credentials } = port;
  const { [arrivingName]: list } = await credentials.get([arrivingName]);
  if (list === undefined) return;
  const library = await loadLibrary();
  // Written by `Arriving`, and nobody else writes under these names.
  const names = JSON.parse(list) as string[];
  for (const name of names) {
    // Read one by one: an erasure may delete some meanwhile.
    const { [name]: text } = await credentials.get([name]);
    if (inTime.aborted) return;
    if (text !== undefined) {
      await port.emit(ArrivingMessage.stored(library, text).eventWithoutFile());
    }
  }
  await credentials.set(Object.fromEntries([arrivingName, ...names].map((name) => [name, null])));
}

import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { arrivingName, arrivingPrefix } from '../../../drivers/msgapp_web/arriving.ts';
import { ArrivingMessage } from '../../../drivers/msgapp_web/arriving-message.ts';
import { Erased } from '../../../drivers/msgapp_web/erased.ts';
import { handOverLeft } from '../../../drivers/msgapp_web/left-messages.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';

const library = await loadLibrary();
const from = { phone: '+12025550123', networkId: null, name: 'Ada' };
const texts = Array.from({ length: 70 }, (_, number) => `message ${number}`);

/** The port of an account whose messages wait for a file. */
function portWithLeft(): MemoryPort {
  const left = texts.map((text, number): [string, string] => {
    const written = { networkId: String(number), from, at: 0, text, media: null };
    const message = new ArrivingMessage(written, [], 'fresh', 0);
    return [`${arrivingPrefix}${number}`, message.toText(library)];
  });
  const list: [string, string] = [arrivingName, JSON.stringify(left.map(([name]) => name))];
  return new MemoryPort(new LogLines(), new MemoryCredentials(new Map([...left, list])));
}

const handOver = (port: MemoryPort) =>
  handOverLeft(port, new Erased(port.credentials), 'acc_1', new AbortController().signal);

t.test('messages left at the end of a link are handed over many at once, in order', async (t) => {
  const port = portWithLeft();
  let underWay = 0;
  let most = 0;
  port.onEmit = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await immediate();
    underWay -= 1;
  };
  await handOver(port);
  t.match(
    port.events,
    texts.map((text) => ({ type: 'message', text })),
  );
  t.ok(most > 16 && most <= 64, `${most} at once, for which the gateway has room`);
  t.equal(port.credentials.values.size, 0);
});

t.test('a message that could not be stored stays, one that is erased does not', async (t) => {
  const port = portWithLeft();
  const erased = `${arrivingPrefix}69`;
  port.onEmit = async (event) => {
    port.credentials.values.delete(erased);
    if (event.type === 'message' && event.text === texts[3]) throw new Error('not stored');
  };
  await handOver(port);
  t.ok(port.credentials.values.has(`${arrivingPrefix}3`));
  port.onEmit = async () => undefined;
  port.events.length = 0;
  await handOver(port);
  t.match(
    port.events,
    texts.slice(0, 69).map((text) => ({ text })),
  );
  t.equal(port.credentials.values.size, 0);
});

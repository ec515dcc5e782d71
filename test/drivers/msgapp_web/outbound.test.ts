import t from 'tap';
import { causesOf } from '../../../core/causes.ts';
import { DriverError, type OutboundMessage } from '../../../core/contracts/driver.ts';
import { Outbound, type OutboundParts } from '../../../drivers/msgapp_web/outbound.ts';
import { SentTo } from '../../../drivers/msgapp_web/sent-to.ts';
import { Throttle } from '../../../drivers/msgapp_web/throttle.ts';

const to = { phone: '+12025550101', networkId: null };
const message: OutboundMessage = { reference: 'msg_1', attempt: 1, to, text: 'Hello', media: null };

/** Sends whose recipients are asked for like this. */
function outboundWhere(ready: () => Promise<never>): Outbound {
  const book = { destinationOf: async () => '12025550101@s.whatsapp.net' };
  return outboundOf({ book, recipients: { ready } });
}

function outboundOf(parts: object): Outbound {
  const unused = { port: {}, socket: {}, limits: {}, erased: { meet: async () => undefined } };
  return new Outbound({
    ...unused,
    throttle: new Throttle(),
    sentTo: new SentTo(),
    ...parts,
  } as unknown as OutboundParts);
}

t.test(
  'a message that cannot be encrypted is tried six times, whatever counts attempts',
  async (t) => {
    // As with a contact whose key bundle is broken for good.
    const ready = async () => {
      throw new Error('no session');
    };
    const outbound = outboundWhere(ready);
    const failed = async (sent: OutboundMessage) => {
      const error: unknown = await outbound.send(sent, new AbortController().signal).then(
        () => null,
        (error: unknown) => error,
      );
      if (error instanceof DriverError) return error;
      throw new Error('the send did not fail as a driver does', { cause: error });
    };
    for (const retryAfterMs of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      t.match(await failed(message), { code: 'not_sent', certain: true, retryAfterMs });
    }
    const other = await failed({ ...message, reference: 'msg_2' });
    t.equal(other.retryAfterMs, 1_000, 'each message for itself');
    t.match(await failed(message), { code: 'not_sent', certain: true, retryAfterMs: null });
  },
);

t.test(
  'a message whose questions are throttled waits longer each time, and never fails',
  async (t) => {
    const ready = async () => {
      throw Object.assign(new Error('rate-overlimit'), { data: 429 });
    };
    const outbound = outboundWhere(ready);
    const pauses: unknown[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      const error: unknown = await outbound
        .send(message, new AbortController().signal)
        .catch((error: unknown) => error);
      t.match(error, { code: 'throttled', certain: true, concerns: 'contact' });
      pauses.push(error instanceof DriverError ? error.retryAfterMs : error);
    }
    t.same(
      pauses,
      [1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * 60_000),
    );
  },
);

t.test('a file that no media host takes is said not to be uploaded', async (t) => {
  const outbound = outboundOf({
    book: { destinationOf: async () => '12025550101@s.whatsapp.net' },
    recipients: { ready: async () => undefined, forget: async () => undefined },
    keys: { writes: { keepsBack: false } },
    socket: {
      ws: { isOpen: true },
      waitForMessage: () => new Promise(() => undefined),
      // As the library says it.
      sendMessage: async () => {
        throw new Error('Media upload failed on all hosts');
      },
    },
  });
  const error: unknown = await outbound
    .send(message, new AbortController().signal)
    .catch((error: unknown) => error);
  const said = 'the file could not be uploaded';
  t.match(error, { code: 'not_sent', message: said, certain: true, retryAfterMs: 1_000 });
  t.equal(causesOf(error), `${said}: Media upload failed on all hosts`);
});

t.test('a number of which the network says nothing is asked for again', async (t) => {
  const answers = [undefined, []];
  const outbound = outboundOf({
    book: { destinationOf: async () => null },
    socket: { onWhatsApp: async () => answers.shift() },
  });
  const failed = () =>
    outbound.send(message, new AbortController().signal).catch((error: unknown) => error);
  t.match(await failed(), { code: 'not_sent', certain: true, retryAfterMs: 1_000 });
  t.match(await failed(), { code: 'not_on_network', certain: true, retryAfterMs: null });
});

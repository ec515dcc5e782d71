import t from 'tap';
import { DriverError, type OutboundMessage } from '../../../core/contracts/driver.ts';
import { Outbound, type OutboundParts } from '../../../drivers/msgapp_web/outbound.ts';

const to = { phone: '+12025550101', networkId: null };
const message: OutboundMessage = { reference: 'msg_1', attempt: 1, to, text: 'Hello', media: null };

t.test(
  'a message that cannot be encrypted is tried six times, whatever counts attempts',
  async (t) => {
    // As with a contact whose key bundle is broken for good.
    const ready = async () => {
      throw new Error('no session');
    };
    const parts = {
      book: { destinationOf: async () => '12025550101@s.whatsapp.net' },
      recipients: { ready },
      port: {},
      socket: {},
      limits: {},
    } as unknown as OutboundParts;
    const outbound = new Outbound(parts);
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

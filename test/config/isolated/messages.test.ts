import t from 'tap';
import { receivedError, sentError } from '../../../config/isolated/messages.ts';
import { causesOf } from '../../../core/causes.ts';
import { DriverError } from '../../../core/contracts/driver.ts';
import { GatewayError } from '../../../core/errors.ts';

t.test("why a driver's error came about crosses between threads", async (t) => {
  const cause = new Error('the upload ended', { cause: new Error('socket hang up') });
  const thrown = new DriverError('not_uploaded', 'the media was not uploaded', {
    ...{ certain: true, retryAfterMs: 5, cause },
  });
  const received = receivedError(structuredClone(sentError(thrown)));
  t.match(received, { code: 'not_uploaded', certain: true, retryAfterMs: 5, concerns: 'account' });
  t.equal(causesOf(received), 'the upload ended: socket hang up');
  const other = receivedError(structuredClone(sentError(new TypeError('odd', { cause }))));
  t.match(other, { name: 'TypeError', message: 'odd' });
  t.equal(causesOf(other), 'the upload ended: socket hang up');
  t.equal(causesOf(receivedError(structuredClone(sentError(new Error('alone'))))), null);
});

t.test("the gateway's own refusal crosses there and back", async (t) => {
  const cross = (thrown: unknown) => receivedError(structuredClone(sentError(thrown)));
  const own = new GatewayError('unavailable', { cause: new Error('the database is away') });
  const received = cross(cross(own));
  t.type(received, GatewayError);
  t.match(received, { code: 'unavailable', status: 503, message: own.message });
  t.equal(causesOf(received), 'the database is away');
  t.notOk(cross(new Error('unavailable')) instanceof GatewayError);
});

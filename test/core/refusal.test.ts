import t from 'tap';
import { GatewayError } from '../../core/errors.ts';
import { asGatewayError } from '../../core/refusal.ts';

t.test('whatever is thrown becomes a refusal, an unknown fault an internal error', async (t) => {
  const cases: [unknown, string][] = [
    [new GatewayError('loop_guard'), 'loop_guard'],
    [new Error('x'), 'internal_error'],
    [undefined, 'internal_error'],
    ['text', 'internal_error'],
    [Object.assign(new Error('x'), { statusCode: 413 }), 'payload_too_large'],
    [Object.assign(new Error('x'), { statusCode: 405 }), 'invalid_request'],
    [Object.assign(new Error('x'), { statusCode: 502 }), 'internal_error'],
  ];
  for (const [error, code] of cases) t.equal(asGatewayError(error).code, code);
});

import { EventEmitter } from 'node:events';
import type { FastifyRequest } from 'fastify';
import t from 'tap';
import { Type } from 'typebox';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import type { QuestionedOperation } from '../../../plugins/api/contract.ts';
import { OperationHandling } from '../../../plugins/api/handling.ts';
import { OpenCalls } from '../../../plugins/api/open-calls.ts';

const everyone: Caller = {
  ...{ tenantId: 'ten_1', keyId: 'key_1', mode: 'test', plan: 'growth', status: 'active' },
  ...{ disabled: new Set<string>(), scopes: null, accountIds: null, confirmSends: false },
};
const declaration = {
  id: 'op',
  method: 'GET',
  path: '/op',
  tool: null,
  scope: 'read',
  group: 'contacts',
  summary: 'Op',
  description: 'Op.',
  hints: { readOnly: true, destructive: false, idempotent: true },
  params: null,
  query: null,
  body: null,
  answers: {},
  errors: [],
  examples: [],
  handler: async () => ({ status: 204 }) as never,
} as const;

function handlingOf(
  declared: AnyOperation,
  isTried = true,
  openCalls = new OpenCalls(),
): OperationHandling {
  return new OperationHandling(declared, {
    admission: { arrived: async ({ caller }) => caller },
    bodyLimit: 100,
    openCalls,
    isTried: () => isTried,
    audit: (_, change) => change(),
  });
}

t.test('a wrong request schema from outside fails the boot', async (t) => {
  const make = (name: object, isTried: boolean) => {
    const query = Closed({ name: Type.Unsafe<string>(name) });
    return handlingOf(operation({ ...declaration, query }), isTried);
  };
  t.throws(() => make({ type: 'string', minLength: 'two' }, false), /schema is invalid.*minLength/);
  t.throws(() => make({ type: 'string', pattern: '(' }, false), /regular expression/);
  t.ok(make({ type: 'string' }, false));
  t.ok(make({ type: 'string', pattern: '(' }, true), "the gateway's own are tried by its tests");
});

t.test(
  'a confirmed call is made by a caller who has confirmed the account of its question',
  async (t) => {
    const callers: Caller[] = [];
    const question = async () => ({ text: 'From acc_1?', accountId: 'acc_1' });
    const declared = operation({
      ...{ ...declaration, question },
      async handler({ caller }) {
        callers.push(caller);
        return { status: 204 } as never;
      },
    });
    if (!isQuestioned(declared)) throw new Error('it has a question');
    const handling = handlingOf(declared);
    const caller = { ...everyone, confirmSends: true };
    // Handling reads no more of it.
    const request = { id: 'req', caller, headers: {}, raw: { socket: new EventEmitter() } };
    const reading = request as unknown as FastifyRequest;
    const parts = { params: {}, query: {}, body: undefined };
    const asked = await handling.question(reading, parts, declared);
    t.same(asked, { text: 'From acc_1?', accountId: 'acc_1' });
    await handling.parts(reading, parts);
    await handling.parts(reading, parts, asked ?? {});
    await handling.parts(reading, parts, {});
    t.match(callers, [
      { confirmSends: true, confirmedAccountId: undefined },
      { confirmSends: false, confirmedAccountId: 'acc_1' },
      { confirmSends: false, confirmedAccountId: undefined },
    ]);
  },
);

t.test('a header that came as a value is no other text than a request could carry', async (t) => {
  const header = { name: 'Odd-Key', description: 'A key.', schema: { type: 'string' } };
  const served: unknown[] = [];
  const declared = operation({
    ...{ ...declaration, headers: [header] },
    async handler({ headers }) {
      served.push(headers['odd-key']);
      return { status: 204 } as never;
    },
  });
  const handling = handlingOf(declared);
  // Handling reads no more of it.
  const request = { id: 'req', caller: everyone, headers: {}, raw: { socket: new EventEmitter() } };
  const reading = request as unknown as FastifyRequest;
  const call = (key: string) =>
    handling.parts(reading, {
      params: {},
      query: {},
      headers: { 'odd-key': key },
      body: undefined,
    });
  for (const key of ['a\0', '\ud800', '\udc00b']) {
    const details = [{ path: 'header/odd-key' }];
    await t.rejects(call(key), { code: 'invalid_request', details });
  }
  await call('\ud83d\ude00');
  t.same(served, ['\ud83d\ude00']);
});

t.test('a call that answers lines is open until their end', async (t) => {
  const openCalls = new OpenCalls();
  const signals: AbortSignal[] = [];
  const declared = operation({
    ...{ ...declaration, lines: true },
    async handler({ signal }) {
      signals.push(signal);
      const lines = (async function* () {
        yield 2;
        yield 3;
      })();
      return { status: 200, body: 1, lines } as never;
    },
  });
  const handling = handlingOf(declared, true, openCalls);
  const open = async () => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    // Handling reads no more of it.
    const request = { id: 'req', caller: everyone, headers: {}, params: {}, query: {} };
    const reading = { ...request, raw: { socket, headers: {} } } as unknown as FastifyRequest;
    const { stream } = await handling.route(reading);
    if (stream === undefined) throw new Error('it answers lines');
    return { socket, stream, signal: signals.at(-1) };
  };
  const left = await open();
  left.socket.emit('close');
  t.equal(left.signal?.aborted, true, 'a client that goes away aborts it');
  left.stream.destroy();
  const whole = await open();
  const text: string[] = [];
  for await (const line of whole.stream) text.push(String(line));
  t.same(text, ['1\n', '2\n', '3\n']);
  const stopped = await open();
  openCalls.stop();
  t.equal(stopped.signal?.aborted, true, 'so does a stop');
  t.equal(whole.signal?.aborted, false, 'which has nothing to do with one that has ended');
  t.equal(whole.socket.listenerCount('close'), 0);
  stopped.stream.destroy();
});

function isQuestioned(declared: AnyOperation): declared is QuestionedOperation {
  return declared.question !== undefined;
}

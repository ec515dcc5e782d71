import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import t from 'tap';
import { Type } from 'typebox';
import type { Caller } from '../../../../core/contracts/caller.ts';
import { asGatewayError, refusalOf } from '../../../../core/refusal.ts';
import { idempotencyKeyHeader } from '../../../../core/sending.ts';
import type { RequestHandling, RequestParts } from '../../../../plugins/api/contract.ts';
import { PartValidator } from '../../../../plugins/api/validation.ts';
import { ConfirmationStates } from '../../../../plugins/confirmations/states.ts';
import { ToolCalls } from '../../../../plugins/mcp/calls.ts';
import { ConfirmedCalls } from '../../../../plugins/mcp/confirmation/confirmed-calls.ts';
import type { StatelessOutcome } from '../../../../plugins/mcp/contract.ts';
import { log } from '../../../fixtures/process.ts';
import { answered } from '../../../harness/confirmed-sends.ts';
import { change, toolOf } from '../sample-tool.ts';

const caller: Caller = {
  ...{ tenantId: 'ten_1', keyId: 'key_1', mode: 'test', plan: 'growth', status: 'active' },
  ...{ disabled: new Set<string>(), scopes: null, accountIds: null, confirmSends: true },
};
// Calls read no more of it.
const reply = { request: { id: 'req_1', span: null, headers: {} } } as unknown as FastifyReply;
const text = Type.Object(
  { text: Type.String(), loud: Type.Boolean({ default: false }) },
  { additionalProperties: false },
);
const validator = new PartValidator('body', text, 'change_thing');

/** Calls of an operation from outside, whose body has a default. @param isKeyed it takes an Idempotency-Key */
function confirmedCalls(isKeyed: boolean) {
  const served: RequestParts[] = [];
  const accounts: (string | null | undefined)[] = [];
  const used = new Map<string, string>();
  let asked: string | null = 'Really?';
  const handling: Pick<RequestHandling, 'admit' | 'serve' | 'refuse' | 'question'> = {
    admit: () => undefined,
    serve: async (_operation, parts, _reply, confirmed) => {
      served.push(parts);
      accounts.push(confirmed?.accountId);
      return { status: 200, body: '{}' };
    },
    refuse: (_operation, error) => refusalOf(asGatewayError(error)),
    question: async (_operation, { body }) => {
      validator.check(body);
      return asked === null ? null : { text: asked, accountId: 'acc_1' };
    },
  };
  const metrics = { answered: () => undefined, refused: () => undefined };
  const counter = { add: () => undefined, of: () => ({ add: () => undefined }) };
  const calls = new ToolCalls({ requestHandling: handling, metrics, counter, log });
  const secrets = { seal: (plain: string) => plain, open: (sealed: string) => sealed };
  const states = new ConfirmationStates(secrets, { now: async () => Date.now() });
  const confirmed = new ConfirmedCalls({
    calls,
    requestHandling: handling,
    confirmations: () => ({
      seal: (...given) => states.seal(...given),
      read: (...given) => states.read(...given),
      use: async ({ nonce }, given) => {
        const answer = given ?? randomUUID();
        if (!used.has(nonce)) used.set(nonce, answer);
        return used.get(nonce) === answer;
      },
    }),
  });
  const headers = isKeyed ? [idempotencyKeyHeader] : [];
  const tool = toolOf({ ...change, headers, question: async () => '' });
  const call = async (more: object = {}): Promise<StatelessOutcome> => {
    const given = { thingId: 't', mode: 'x', body: { text: 'y' } };
    const elicitation = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const outcome = await confirmed.call(
      tool,
      { arguments: given, _meta: elicitation, ...more },
      caller,
      reply,
    );
    if (outcome === null) throw new Error('nobody would be asked');
    return outcome;
  };
  const state = async (more: object = {}): Promise<string> => {
    const outcome = await call(more);
    if (!('asked' in outcome)) throw new Error(`nobody was asked: ${JSON.stringify(outcome)}`);
    return (outcome.asked as { requestState: string }).requestState;
  };
  const ask = (question: string | null): void => {
    asked = question;
  };
  return { call, state, served, accounts, ask };
}

t.test('a call whose body has defaults is done once it is confirmed', async (t) => {
  const { call, state, served, accounts } = confirmedCalls(false);
  const outcome = await call(answered(await state()));
  t.match(outcome, { result: { isError: false } });
  t.equal(served.length, 1);
  t.same(accounts, ['acc_1'], 'from the account that was asked about');
});

t.test('what takes an Idempotency-Key is repeated under one, anything else never', async (t) => {
  const keyed = confirmedCalls(true);
  const state = await keyed.state();
  for (let n = 0; n < 3; n += 1) {
    t.match(await keyed.call(answered(state)), { result: { isError: false } });
  }
  const [key, ...others] = keyed.served.map(({ headers }) => headers?.['idempotency-key']);
  t.match(key, /^confirmation [\w-]{24}$/);
  t.same(others, [key, key]);
  const other = confirmedCalls(false);
  const once = await other.state();
  t.match(await other.call(answered(once)), { result: { isError: false } });
  t.match(await other.call(answered(once)), { refused: /used already/ });
  t.match([other.served.length, other.served[0]?.headers], [1, {}]);
});

t.test('what is asked anew keeps its key, and what was done is not asked about', async (t) => {
  const { call, state, served, ask } = confirmedCalls(true);
  const first = await state();
  ask('Really, Ada?');
  const second = await state(answered(first));
  t.equal(served.length, 0);
  await call(answered(second));
  ask('Really, Ben?');
  t.match(await call(answered(first)), { asked: {} });
  ask(null);
  await call(answered(first));
  const [one, again] = served.map(({ headers }) => headers?.['idempotency-key']);
  t.ok(one);
  t.equal(again, one);
});

t.test('a question that is asked again without an answer keeps the key of its call', async (t) => {
  const { call, state, served, ask } = confirmedCalls(true);
  const first = await state();
  const second = await state({ requestState: first });
  const third = await state({ requestState: second, inputResponses: {} });
  t.equal(served.length, 0, 'nothing is done without an answer');
  for (const each of [first, second, third]) await call(answered(each));
  const [one, ...others] = served.map(({ headers }) => headers?.['idempotency-key']);
  t.ok(one);
  t.same(others, [one, one]);
  ask(null);
  await call({ requestState: first });
  t.equal(served[3]?.headers?.['idempotency-key'], one, 'what was done is answered as before');
});

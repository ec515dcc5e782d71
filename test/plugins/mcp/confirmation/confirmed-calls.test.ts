import type { FastifyReply } from 'fastify';
import t from 'tap';
import { Type } from 'typebox';
import type { Caller } from '../../../../core/contracts/caller.ts';
import { asGatewayError, refusalOf } from '../../../../core/refusal.ts';
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

/** Calls of an operation from outside, whose body has a default. */
function confirmedCalls() {
  const served: RequestParts[] = [];
  const used = new Set<string>();
  const handling: Pick<RequestHandling, 'admit' | 'serve' | 'refuse' | 'question'> = {
    admit: () => undefined,
    serve: async (_operation, parts) => {
      served.push(parts);
      return { status: 200, body: '{}' };
    },
    refuse: (_operation, error) => refusalOf(asGatewayError(error)),
    question: async (_operation, { body }) => {
      validator.check(body);
      return 'Really?';
    },
  };
  const metrics = { answered: () => undefined, refused: () => undefined };
  const counter = { add: () => undefined, of: () => ({ add: () => undefined }) };
  const calls = new ToolCalls({ requestHandling: handling, metrics, counter, log });
  const secrets = { seal: (plain: string) => plain, open: (sealed: string) => sealed };
  const states = new ConfirmationStates(secrets, () => Date.now());
  const confirmed = new ConfirmedCalls({
    calls,
    requestHandling: handling,
    confirmations: () => ({
      seal: (...given) => states.seal(...given),
      read: (...given) => states.read(...given),
      use: async ({ nonce }) => {
        const isFirst = !used.has(nonce);
        used.add(nonce);
        return isFirst;
      },
    }),
  });
  const tool = toolOf({ ...change, question: async () => '' });
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
  return { call, state, served };
}

t.test('a call whose body has defaults is done once it is confirmed', async (t) => {
  const { call, state, served } = confirmedCalls();
  const outcome = await call(answered(await state()));
  t.match(outcome, { result: { isError: false } });
  t.equal(served.length, 1);
});

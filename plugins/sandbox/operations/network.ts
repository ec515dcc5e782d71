import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { answerOf, networkOf, type Sandbox } from '../network-call.ts';

const Reachability = Closed({
  reachable: Type.Boolean({ description: 'whether the network can be reached' }),
});

/** Operations of the network as a whole. */
export function networkOperations(sandbox: Sandbox): readonly AnyOperation[] {
  return [
    operation({
      id: 'get_simulated_network',
      method: 'GET',
      path: '/sandbox/network',
      tool: null,
      scope: 'read',
      group: 'sandbox',
      summary: 'Whether the network can be reached',
      description:
        'Whether your phones can connect, on every channel, as `PUT /sandbox/network` has set it. A single phone ' +
        'whose connections are refused after a drop shows that itself, in `dropped_until`.',
      hints: { readOnly: true, destructive: false, idempotent: true },
      params: null,
      query: null,
      body: null,
      answers: { 200: Reachability },
      errors: ['not_found', 'unavailable'],
      examples: [{ summary: 'In reach', answer: { status: 200, body: { reachable: true } } }],
      async handler({ caller }) {
        const reachable = await answerOf(networkOf(sandbox, caller).isReachable(caller.tenantId));
        return { status: 200, body: { reachable } };
      },
    }),
    operation({
      id: 'put_simulated_network',
      method: 'PUT',
      path: '/sandbox/network',
      tool: null,
      scope: 'connect',
      group: 'sandbox',
      summary: 'Take the network out of reach, or back',
      description:
        'While it is out of reach all connections of your phones are cut and new ones refused, on every ' +
        'channel. The calls of the sandbox keep working.',
      hints: { readOnly: false, destructive: true, idempotent: true },
      params: null,
      query: null,
      body: Reachability,
      answers: { 200: Reachability },
      errors: ['not_found', 'unavailable'],
      examples: [
        {
          summary: 'Out of reach',
          body: { reachable: false },
          answer: { status: 200, body: { reachable: false } },
        },
      ],
      async handler({ caller, body }) {
        const set = networkOf(sandbox, caller).setReachable(caller.tenantId, body.reachable);
        return { status: 200, body: await answerOf(set) };
      },
    }),
  ];
}

/** A plugin that calls those services of the container that the guide's own does not use. */
export const probe = `
import { Closed, GatewayError, gatewayPlugin, operation, type PluginFactory, type SendBody, Type } from 'messaging-gateway/plugin';

const make: PluginFactory = () => gatewayPlugin('probe', ['messages', 'contacts', 'accounts', 'templates'], async (app) => {
  const { accounts, contacts, messages } = app.container.cradle;
  const group = { name: 'Probe', description: 'Looks.' };
  const hints = { readOnly: false, destructive: false, idempotent: false };
  const declared = { tool: null, scope: 'read', group, summary: 'Probe', description: 'Probes.', hints, query: null, errors: [], examples: [] } as const;
  app.operations.add(
    operation({
      ...declared, id: 'probe', method: 'GET', path: '/probe/{message}/{contact}',
      params: Closed({ message: Type.String(), contact: Type.String() }), body: null,
      answers: { 200: Closed({ found: Type.Array(Type.Unknown()) }) },
      handler: async ({ caller, params }) => {
        const found = [await messages.find(caller, params.message), await contacts.find(caller, params.contact), await accounts.list(caller), await contacts.list(caller, { limit: 1 }), await messages.list(caller)];
        return { status: 200, body: { found } };
      },
    }),
    operation({
      ...declared, id: 'probe_send', method: 'POST', path: '/probe',
      params: null, body: Type.Record(Type.String(), Type.Unknown()), answers: { 200: Closed({}) },
      handler: async ({ caller, body }) => {
        const text = typeof body.text === 'string' ? body.text.replace('NUL', '\\0') : '';
        await messages.send(caller, { ...(body as unknown as SendBody), text });
        throw new GatewayError('internal_error');
      },
    }),
  );
});
export default make;
`;

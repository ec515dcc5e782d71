import { Type } from 'typebox';
import type { Driver, LinkMethod } from '../../../core/contracts/driver.ts';
import { Closed, Nullable, OneOf, Timestamp, timestamp } from '../../../core/schemas.ts';
import { connectionStatus } from '../connection-status.ts';
import type { LinkView } from '../links.ts';
import { reasonWords } from '../reasons.ts';
import { ConnectionStep, stepView } from './connection-view.ts';
import { ChannelName, ConnectionStatus } from './schemas.ts';

/** The answer of the operations of a link. */
export const OwnerLink = Closed(
  {
    channel: ChannelName,
    last_digits: Type.String({
      description: 'the last four characters of the number that is being linked',
      examples: ['1111'],
    }),
    tenant_name: Type.String({ description: 'who wants to link the number', examples: ['Acme'] }),
    status: ConnectionStatus,
    reason: Nullable(OneOf(reasonWords, { description: 'why the status is as it is' })),
    link_method: Type.String({ description: 'how the number is being linked', examples: ['qr'] }),
    link_methods: Type.Array(Type.String(), { description: 'how it can be linked' }),
    step: Nullable(ConnectionStep),
    restarts_left: Type.Integer({ description: 'how often it can be started again', minimum: 0 }),
    expires_at: Type.String({ ...Timestamp, description: 'when the link ends' }),
  },
  { $id: 'OwnerLink', description: 'What the owner of a phone sees of its linking.' },
);

/** An example of it. */
export const ownerLinkExample = {
  channel: 'msgapp_web',
  last_digits: '1111',
  tenant_name: 'Acme',
  status: 'connecting',
  reason: null,
  link_method: 'pairing_code',
  link_methods: ['qr', 'pairing_code'],
  step: { type: 'show_code', code: 'K7QM2XWD', expires_at: '2026-01-31T09:33:00.000Z' },
  restarts_left: 2,
  expires_at: '2026-01-31T09:35:00.000Z',
} as const;

/** How an owner can link with a page alone. A login code is for the tenant to hand in: such a step asks for what a link does not show. */
export function ownerLinkMethods(driver: Driver): readonly LinkMethod[] {
  return driver.capabilities.linkMethods.filter((one) => one === 'qr' || one === 'pairing_code');
}

/** What the owner sees. */
export async function ownerLinkView(
  { channel, tenantName, connection, restartsLeft, expiresAt }: LinkView,
  methods: readonly LinkMethod[],
) {
  const { identifier, view } = connection;
  return {
    channel,
    last_digits: identifier.slice(-4),
    tenant_name: tenantName,
    status: connectionStatus(view),
    reason: view.state.reason,
    link_method: view.options.method,
    link_methods: [...methods],
    step: view.step === null ? null : await stepView(view.step),
    restarts_left: restartsLeft,
    expires_at: timestamp(expiresAt),
  };
}

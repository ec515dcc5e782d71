import { type Static, Type } from 'typebox';
import type { LinkStep } from '../../../core/contracts/driver.ts';
import {
  Closed,
  Nullable,
  nullableTimestamp,
  OneOf,
  Timestamp,
  timestamp,
} from '../../../core/schemas.ts';
import { connectionStatus } from '../connection-status.ts';
import type { Connection } from '../connections.ts';
import { qrImage } from './qr-image.ts';
import {
  AccountId,
  ChannelName,
  ConnectionStatus,
  causeFields,
  causeView,
  Identifier,
} from './schemas.ts';

/** What the known fields are called where the driver has no words of its own. */
const labels: Readonly<Record<string, string>> = { code: 'Login code', password: 'Password' };

/** A step of a linking, as every operation of any channel answers it. */
export const ConnectionStep = Closed(
  {
    type: OneOf(['show_qr', 'show_code', 'ask', 'expired'], {
      description:
        "`show_qr`: show `data` as a QR code; `show_code`: show `code`, to be typed in the network's app; `ask`: ask " +
        'the user for the value that `field` names and hand it in; `expired`: the last code ran out, connect again',
    }),
    data: Type.Optional(Type.String({ description: 'the text that the QR code holds' })),
    image: Type.Optional(
      Type.String({ description: 'the QR code as a PNG picture in a data: address' }),
    ),
    token: Type.Optional(
      Nullable(Type.String({ description: 'the login token in it, where the network has one' })),
    ),
    code: Type.Optional(Type.String({ description: "to be typed in the network's app" })),
    field: Type.Optional(
      Type.String({
        description: 'the value that is awaited: `code`, `password` or another',
        examples: ['password'],
      }),
    ),
    label: Type.Optional(Type.String({ description: 'what to ask the user for' })),
    secret: Type.Optional(
      Type.Boolean({ description: 'the value must not be shown while it is typed' }),
    ),
    expires_at: Type.Optional(Timestamp),
  },
  {
    $id: 'ConnectionStep',
    description:
      'What the user has to do or see while an account is being linked. A code is renewed: read it again.',
  },
);

/** A connection as every operation of any channel answers it. */
export const ConnectionView = Closed(
  {
    channel: ChannelName,
    identifier: Identifier,
    account_id: AccountId,
    status: ConnectionStatus,
    ...causeFields,
    link_method: Type.String({
      description: 'how the account is linked, or was last',
      examples: ['qr'],
    }),
    step: Nullable(ConnectionStep),
    linking_ends_at: Nullable(
      Type.String({
        ...Timestamp,
        description: 'when the linking that is under way is given up; null when none is',
      }),
    ),
  },
  { $id: 'Connection', description: 'The connection of one account, on any channel.' },
);

/** The answer for a connection. */
export async function connectionView(
  channel: string,
  { identifier, view }: Connection,
): Promise<Static<typeof ConnectionView>> {
  return {
    channel,
    identifier,
    account_id: view.accountId,
    status: connectionStatus(view),
    ...causeView(view),
    link_method: view.options.method,
    step: view.step === null ? null : await stepView(view.step),
    linking_ends_at: nullableTimestamp(view.pairingEndsAt),
  };
}

/** The answer for a step. */
export async function stepView(step: LinkStep): Promise<Static<typeof ConnectionStep>> {
  switch (step.type) {
    case 'show_qr': {
      const { type, data, token } = step;
      return {
        type,
        data,
        image: await qrImage(data),
        token,
        expires_at: timestamp(step.expiresAt),
      };
    }
    case 'show_code':
      return { type: step.type, code: step.code, expires_at: timestamp(step.expiresAt) };
    case 'ask':
      return {
        type: step.type,
        field: step.field,
        label: step.label ?? labels[step.field] ?? step.field,
        secret: step.secret ?? step.field === 'password',
      };
    case 'expired':
      return { type: step.type };
  }
}

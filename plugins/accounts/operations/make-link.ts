import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Timestamp, timestamp } from '../../../core/schemas.ts';
import type { OwnerLinks } from '../links.ts';
import { ChannelName, Identifier } from './schemas.ts';

/** Dependencies of the operation. */
export interface MakeLinkParts {
  readonly links: OwnerLinks;
  /** Where the console is, without a slash at the end; null where it is switched off. */
  consoleUrl(): string | null;
}

/** `POST /channels/{channel}/connections/{identifier}/link`, REST only. */
export function makeLink({ links, consoleUrl }: MakeLinkParts): AnyOperation {
  return operation({
    id: 'create_connection_link',
    method: 'POST',
    path: '/channels/{channel}/connections/{identifier}/link',
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    summary: "Make a link for the phone's owner",
    description:
      'An address of the console to send to whoever holds the phone: it shows the QR code or the pairing code of ' +
      'the linking that is under way, the last four digits and your name, and nothing else. It is good for five ' +
      'minutes and for this linking only; connecting or disconnecting the account ends it, and so does a new link. ' +
      '`step_not_awaited`: the account is not being linked, connect it first.',
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: Closed({ channel: ChannelName, identifier: Identifier }),
    query: null,
    body: null,
    answers: {
      200: Closed({
        url: Type.String({ description: 'the address; shown only this once' }),
        expires_at: Timestamp,
      }),
    },
    errors: [
      'connection_not_found',
      'already_connected',
      'step_not_awaited',
      'not_found',
      'driver_failed',
    ],
    examples: [
      {
        summary: 'Made',
        params: { channel: 'msgapp_web', identifier: '+15550001111' },
        answer: {
          status: 200,
          body: {
            url: 'https://gateway.example/console#/link/dGhpcyBpcyBub3QgYSByZWFsIHRva2VuIGF0IGFsbCE',
            expires_at: '2026-01-31T09:35:00.000Z',
          },
        },
      },
    ],
    async handler({ caller, params: { channel, identifier } }) {
      const console = consoleUrl();
      if (console === null) {
        const message = 'The console of this gateway, which shows such links, is switched off.';
        throw new GatewayError('not_found', { message });
      }
      const { accountId, token, expiresAt } = await links.make(caller, channel, identifier);
      return {
        status: 200,
        body: { url: `${console}#/link/${token}`, expires_at: timestamp(expiresAt) },
        changed: accountId,
      };
    },
  });
}

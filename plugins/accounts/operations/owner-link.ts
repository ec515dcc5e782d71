import { Type } from 'typebox';
import { wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import type { ChannelDirectory } from '../channel-access.ts';
import type { OwnerLinks } from '../links.ts';
import { OwnerLink, ownerLinkExample, ownerLinkMethods, ownerLinkView } from './owner-link-view.ts';

/** Dependencies of the operations of a link. */
export interface OwnerLinkParts {
  readonly links: OwnerLinks;
  readonly channels: ChannelDirectory;
}

const tokenHeader = 'x-link-token';
const headers = [
  {
    name: tokenHeader,
    description:
      'token of the link: the part of its address behind `#/link/`. No API key is needed',
    schema: Type.String({ maxLength: 256 }),
  },
];

/** The two operations that a link for the phone's owner opens. REST only, and without an API key. */
export function ownerLinkOperations(parts: OwnerLinkParts): readonly AnyOperation[] {
  return [getLink(parts), restartLink(parts)];
}

function getLink({ links, channels }: OwnerLinkParts): AnyOperation {
  return operation({
    id: 'get_link',
    method: 'GET',
    path: '/link',
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    credential: credentialOf(links),
    headers,
    summary: 'See the linking behind a link',
    description:
      'What the owner of the phone has to do now. A code is renewed: read it again. A linking that was given up is ' +
      'answered with its status and reason; `restart_link` starts it again. `link_used`: the number is connected. ' +
      '`link_not_found`: the link has expired, a new one was made, or the account was connected anew or removed.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: OwnerLink },
    errors: [
      'link_not_found',
      'link_used',
      'connection_not_found',
      'plan_without_channels',
      'channel_not_enabled',
      'connection_service_unreachable',
      'driver_failed',
    ],
    examples: [{ summary: 'A code to type', answer: { status: 200, body: ownerLinkExample } }],
    async handler({ caller, headers }) {
      const view = await links.show(caller, headers[tokenHeader] ?? '');
      return {
        status: 200,
        body: await ownerLinkView(view, ownerLinkMethods(channels.driver(caller, view.channel))),
      };
    },
  });
}

function restartLink({ links, channels }: OwnerLinkParts): AnyOperation {
  return operation({
    id: 'restart_link',
    method: 'POST',
    path: '/link/restart',
    tool: null,
    scope: 'connect',
    withinAccounts: true,
    group: 'channels',
    credential: credentialOf(links),
    headers,
    summary: 'Start the linking behind a link again',
    description:
      'For a code that ran out, or for another method: a pairing code where the page is open on the very phone. ' +
      'The link is good for as long as before. `link_restart_cap`: it has started three times.',
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: Closed({
      link_method: Type.Optional(
        Type.String({ description: 'one of `link_methods`; default: as before', maxLength: 64 }),
      ),
    }),
    bodyOptional: true,
    answers: { 200: OwnerLink },
    errors: [
      'link_not_found',
      'link_used',
      'link_restart_cap',
      'connection_not_found',
      'already_connected',
      'account_cap',
      'plan_without_channels',
      'channel_not_enabled',
      'connection_service_at_capacity',
      'connection_service_unreachable',
      'driver_failed',
    ],
    examples: [
      {
        summary: 'By pairing code',
        body: { link_method: 'pairing_code' },
        answer: { status: 200, body: ownerLinkExample },
      },
    ],
    async handler({ caller, headers, body: { link_method } }) {
      const token = headers[tokenHeader] ?? '';
      const { channel } = await links.show(caller, token);
      const methods = ownerLinkMethods(channels.driver(caller, channel));
      const method = methods.find((one) => one === link_method) ?? null;
      if (method === null && link_method !== undefined) {
        throw wrongField('body/link_method', `must be one of ${methods.join(', ')}`);
      }
      const view = await links.restart(caller, token, method);
      const changed = view.connection.view.accountId;
      return { status: 200, body: await ownerLinkView(view, methods), changed };
    },
  });
}

function credentialOf(links: OwnerLinks) {
  return {
    header: tokenHeader,
    refusal: 'link_not_found',
    caller: (token: string) => links.caller(token),
  } as const;
}

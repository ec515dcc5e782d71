import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Timestamp, timestamp } from '../../../core/schemas.ts';
import { isPairing } from '../account-state.ts';
import { msgappStatus } from '../connection-status.ts';
import type { Connections } from '../connections.ts';
import type { SessionView } from '../session/protocol.ts';
import { disconnect } from './disconnect.ts';
import { connectMsgapp, msgappChannel } from './msgapp-connect.ts';
import { qrImage } from './qr-image.ts';
import {
  ConnectionParams,
  causeView,
  MsgappConnection,
  MsgappStatus,
  noCauseExample,
  PhoneNumber,
} from './schemas.ts';

const path = '/channels/msgapp-web/connections/{phoneNumber}';
const params = { phoneNumber: '+15550001111' };

/** The four operations of `msgapp_web` connections. */
export function msgappOperations(connections: Connections): readonly AnyOperation[] {
  return [
    connectMsgapp(connections),
    qr(connections),
    status(connections),
    disconnect(connections, {
      id: 'disconnect_msgapp',
      path,
      group: 'msgapp',
      channel: msgappChannel,
      ends: 'Ends the link',
      only: 'pairing again',
    }),
  ];
}

function qr(connections: Connections): AnyOperation {
  return operation({
    id: 'get_msgapp_qr',
    method: 'GET',
    path: `${path}/qr`,
    tool: 'get_msgapp_qr',
    scope: 'connect',
    withinAccounts: true,
    group: 'msgapp',
    summary: 'Get the QR code of a msgapp number',
    description:
      'The code to be scanned with the phone that owns the number. It is short-lived and renewed by itself: ' +
      'fetch it every 10 to 15 seconds until the status says `connected`. `qr` is the text that the code ' +
      'holds, `qr_image` a picture of it. `qr_not_ready`: ask again in a moment. `qr_expired`: the last code ' +
      'ran out or the pairing ended; connect again. `qr_not_applicable`: the number is linked already, ' +
      'or is being paired by pairing code.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: ConnectionParams,
    query: null,
    body: null,
    picture: 'qr_image',
    answers: {
      200: Closed({
        phone_number: PhoneNumber,
        status: MsgappStatus,
        qr: Type.String({ description: "what the network's app scans", minLength: 1 }),
        qr_image: Type.String({
          description: 'the code as a PNG picture in a data: address',
          pattern: '^data:image/png;base64,',
        }),
        expires_at: Timestamp,
      }),
    },
    errors: ['qr_not_applicable', 'connection_not_found', 'qr_not_ready', 'qr_expired'],
    examples: [
      {
        summary: 'A code to scan',
        params,
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'connecting',
            qr: '2@3Jx0vJ6ZQm1,bG9uZyB0ZXh0,c2VjcmV0',
            qr_image: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA',
            expires_at: '2026-01-31T09:31:00.000Z',
          },
        },
      },
    ],
    async handler({ caller, params }) {
      const { identifier, view } = await connections.find(
        caller,
        msgappChannel,
        params.phoneNumber,
        'unavailable',
      );
      const step = scannable(view);
      return {
        status: 200,
        body: {
          phone_number: identifier,
          status: msgappStatus(view),
          qr: step.data,
          qr_image: await qrImage(step.data),
          expires_at: timestamp(step.expiresAt),
        },
      };
    },
  });
}

function status(connections: Connections): AnyOperation {
  return operation({
    id: 'get_msgapp_status',
    method: 'GET',
    path: `${path}/status`,
    tool: 'get_msgapp_status',
    scope: 'connect',
    withinAccounts: true,
    group: 'msgapp',
    summary: 'Get the status of a msgapp connection',
    description:
      'Whether the number is connected. `connected` is success. `disconnected`, and `not_initialized` when ' +
      'no session exists, are failures that only a new connect ends; `reason` and `detail` say what happened. ' +
      '`connecting` goes on by itself: the number is being paired, or reconnects after the network was lost, next at `retry_at`.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: ConnectionParams,
    query: null,
    body: null,
    answers: { 200: MsgappConnection },
    errors: ['connection_not_found', 'connection_service_unreachable'],
    examples: [
      {
        summary: 'Connected',
        params,
        answer: {
          status: 200,
          body: { phone_number: '+15550001111', status: 'connected', ...noCauseExample },
        },
      },
      {
        summary: 'Unlinked on the phone',
        params,
        answer: {
          status: 200,
          body: {
            phone_number: '+15550001111',
            status: 'disconnected',
            reason: 'logged_out',
            detail: 'The session was unlinked on the phone: connect it again.',
            since: '2026-01-31T09:30:24.512Z',
            retry_at: null,
          },
        },
      },
    ],
    async handler({ caller, params }) {
      const { identifier, view } = await connections.find(
        caller,
        msgappChannel,
        params.phoneNumber,
        'connection_service_unreachable',
      );
      return {
        status: 200,
        body: {
          phone_number: identifier,
          status: msgappStatus(view),
          ...causeView(view),
        },
      };
    },
  });
}

/** @throws GatewayError why there is nothing to scan */
function scannable({ state, options, step }: SessionView) {
  if (options.method !== 'qr') throw new GatewayError('qr_not_applicable');
  if (state.status === 'disconnected') throw new GatewayError('qr_expired');
  if (!isPairing(state)) {
    throw new GatewayError('qr_not_applicable', { message: 'This number is linked already.' });
  }
  if (step?.type === 'expired') throw new GatewayError('qr_expired');
  if (step?.type !== 'show_qr') throw new GatewayError('qr_not_ready');
  return step;
}

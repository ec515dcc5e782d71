import { addressOfPhone } from '../../../drivers/msgapp_web/addresses.ts';
import {
  type CloseCode,
  type ConnectionPhase,
  endingOf,
  type LastEnding,
  lost,
} from '../../../drivers/msgapp_web/close-codes.ts';
import { endingEventOf } from '../../../drivers/msgapp_web/ending-event.ts';
import { wrongPhoneEnding } from '../../../drivers/msgapp_web/linked-phone.ts';
import { bodyOf, connectionPath, phoneNumber } from '../../harness/story.ts';
import { linkLive, showQr } from '../../networks/msgapp_web/linking.ts';
import { type CausedState, causeOf, type Further, isCaused, nothing, said } from './live.ts';
import type { Place, Row } from './row.ts';

const stranger = phoneNumber(399);
let numbers = 300;

function endings(code: CloseCode, phase: ConnectionPhase): readonly LastEnding[] {
  const ending = endingOf(code, phase);
  return ending.type === 'restart' ? [] : [ending];
}

function statesOf(ending: LastEnding): readonly CausedState[] {
  const event = endingEventOf(ending);
  return isCaused(event) ? [event] : [];
}

/** @param provoke answers the account's id */
function rows(
  ending: LastEnding,
  provoke: (place: Place, phone: string) => Promise<string>,
  rest: Further = {},
): readonly Row[] {
  return statesOf(ending).map((state) => ({
    ...said(state, 'disconnected'),
    ...rest,
    name: `msgapp_web: ${causeOf(state)}`,
    async provoke(place) {
      numbers += 1;
      const phone = phoneNumber(numbers);
      const accountId = await provoke(place, phone);
      const { status } = connectionPath('msgapp', phone);
      return { api: place.live, channel: 'msgapp_web', accountId, status };
    },
  }));
}

/** Something that befalls a linked number. */
function linked(
  ending: LastEnding,
  befall: (place: Place, phone: string) => Promise<void>,
  rest: Further = {},
): readonly Row[] {
  const provoke = async (place: Place, phone: string): Promise<string> => {
    const accountId = await linkLive(place.live, place.msgapp, phone);
    await befall(place, phone);
    return accountId;
  };
  return rows(ending, provoke, rest);
}

async function scannedByAnother({ live, msgapp }: Place, phone: string): Promise<string> {
  const { accountId, qr } = await showQr(live, phone);
  await msgapp.scan(stranger, qr);
  return accountId;
}

const forged = { alone: true, undo: ({ msgapp }: Place) => msgapp.impersonate(false) };

async function linkedToAnother({ live, msgapp }: Place, phone_number: string): Promise<string> {
  await msgapp.impersonate(true);
  const begun = await live.post('/channels/msgapp-web/connections', { phone_number });
  return bodyOf<{ account_id: string }>(begun).account_id;
}

/** Every reason of the msgapp_web driver, on the network that speaks its protocol. */
export const msgappReasons: readonly Row[] = [
  ...[503, 429, 405, 401, 402].flatMap((code) =>
    endings(code, 'connected').flatMap((ending) =>
      linked(ending, ({ msgapp }, phone) => msgapp.refuse(phone, String(code))),
    ),
  ),
  ...endings(440, 'connected').flatMap((ending) =>
    linked(ending, ({ msgapp }, phone) => msgapp.replace(phone)),
  ),
  ...linked(
    {
      type: 'logged_out',
      reason: 'session_lost',
      detail: 'The credentials of this session are gone: connect it again.',
    },
    nothing,
    { credentials: 'gone' },
  ),
  ...linked(
    lost('The library or the stored session could not be loaded.', 'driver_failed'),
    nothing,
    { credentials: 'unreadable' },
  ),
  ...rows(wrongPhoneEnding(addressOfPhone(stranger), true), scannedByAnother),
  ...[401, 403].flatMap((code) =>
    endings(code, 'showing').flatMap((ending) =>
      rows(
        ending,
        async ({ live, msgapp }, phone) => {
          const { accountId } = await showQr(live, phone);
          await msgapp.refuseLogins(String(code));
          return accountId;
        },
        { alone: true },
      ),
    ),
  ),
  ...endings('untrusted', 'linking').flatMap((ending) => rows(ending, linkedToAnother, forged)),
  ...endings('untrusted', 'connected').flatMap((ending) =>
    linked(
      ending,
      async ({ msgapp }, phone) => {
        await msgapp.impersonate(true);
        await msgapp.drop(phone);
      },
      forged,
    ),
  ),
];

const codes = [...Array.from({ length: 200 }, (_, n) => n + 400)];
const words = ['unreachable', 'untrusted', 'unknown'] as const;
const phases = ['linking', 'showing', 'resuming', 'connected'] as const;

/** Each state and reason that the driver's tables hold. */
export const msgappCauses: ReadonlySet<string> = new Set(
  [
    ...[...codes, ...words].flatMap((code) => phases.flatMap((phase) => endings(code, phase))),
    wrongPhoneEnding(undefined, true),
  ].flatMap((ending) => statesOf(ending).map(causeOf)),
);

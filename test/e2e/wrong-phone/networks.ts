import { wrongPhoneRefusal as wrongChatappPhone } from '../../../drivers/chatapp/leaving.ts';
import { addressOfPhone } from '../../../drivers/msgapp_web/addresses.ts';
import { wrongPhoneEnding as wrongMsgappPhone } from '../../../drivers/msgapp_web/linked-phone.ts';
import { startNetwork as startChatapp } from '../../drivers/chatapp/network-process.ts';
import type { Client } from '../../harness/client.ts';
import type { Teardown } from '../../harness/processes.ts';
import { bodyOf, type Family, untilStatus } from '../../harness/story.ts';
import { linkLive, showQr } from '../../networks/msgapp_web/linking.ts';
import { startNetwork as startMsgapp } from '../../networks/msgapp_web/process.ts';

/** Somebody who writes, and is in the address book of everybody. */
export const friend = { phone: '+12025559001', name: 'Ada' };

/** A network with the real protocol, on which the owner of one phone links the account of another. */
export interface StrangeNetwork {
  readonly family: Family;
  /** What leads a gateway there. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the driver says of a phone that was unlinked again. */
  said(stranger: string): string;
  /** The status of an account whose login came to nothing. */
  readonly refusedStatus: string;
  /** Begins to link a number, and lets the owner of another phone answer; gives the account's id. */
  linkWith(api: Client, phone: string, stranger: string): Promise<string>;
  /** Links a number with its own phone; gives the account's id. */
  link(api: Client, phone: string): Promise<string>;
  /** Somebody writes to a number. */
  write(phone: string, text: string): Promise<unknown>;
  /** How many devices of a number are linked. */
  devices(phone: string): Promise<number>;
}

/** The network of `msgapp_web`, whose phone brings an address book and a past. */
export async function strangeMsgapp(t: Teardown, stranger: string): Promise<StrangeNetwork> {
  const { network, settings } = await startMsgapp(t);
  const from = friend.phone;
  await network.setPast(stranger, {
    contacts: [friend],
    history: [{ from, text: 'from before', at: Date.now() - 60_000 }],
  });
  return {
    family: 'msgapp',
    settings,
    said: (phone) => detailOf(wrongMsgappPhone(addressOfPhone(phone), true)),
    refusedStatus: 'disconnected',
    async linkWith(api, phone, another) {
      const { accountId, qr } = await showQr(api, phone);
      await network.scan(another, qr, true);
      return accountId;
    },
    link: (api, phone) => linkLive(api, network, phone),
    write: (phone, text) => network.write(phone, { from, name: friend.name, text }),
    devices: (phone) => network.devices(phone),
  };
}

/** The network of `chatapp`. A number is first linked by QR code, then by a code that lets another one in. */
export async function strangeChatapp(t: Teardown, stranger: string): Promise<StrangeNetwork> {
  const { control, settings } = await startChatapp(t);
  await control.put(stranger, { contacts: [friend] });
  const begin = async (api: Client, phone_number: string, mode: string) => {
    const answer = await api.post('/channels/chatapp/connect', { phone_number, mode });
    return bodyOf<{ account_id: string; qr_url: string | null }>(answer);
  };
  const link = async (api: Client, phone: string): Promise<string> => {
    const { account_id } = await begin(api, phone, 'code');
    const code = await control.code(phone);
    await api.post(`/channels/chatapp/connect/${phone}/verify-code`, { code });
    return account_id;
  };
  let isScanned = false;
  return {
    family: 'chatapp',
    settings,
    said: (phone) => wrongChatappPhone(phone, true).detail,
    refusedStatus: 'error',
    async linkWith(api, phone, another) {
      if (isScanned) {
        await control.put(phone, { letsIn: another });
        return await link(api, phone);
      }
      isScanned = true;
      const { account_id, qr_url } = await begin(api, phone, 'qr');
      await control.scan(another, qr_url ?? '');
      return account_id;
    },
    async link(api, phone) {
      await control.put(phone, { letsIn: phone });
      const accountId = await link(api, phone);
      await untilStatus(api, 'chatapp', phone, 'connected');
      return accountId;
    },
    write: (phone, text) => control.write(phone, { from: friend.phone, name: friend.name, text }),
    devices: (phone) => control.sessions(phone),
  };
}

function detailOf(ending: { readonly type: string }): string {
  if (!('detail' in ending)) throw new Error(`${ending.type} says nothing`);
  return String(ending.detail);
}

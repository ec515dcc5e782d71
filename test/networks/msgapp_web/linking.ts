import type { Client } from '../../harness/client.ts';
import { connected, until } from '../../harness/story.ts';
import type { NetworkControl } from './control.ts';

/** Begins to link a number of a live tenant; answers the account's id and the QR code that is shown. */
export async function showQr(
  api: Client,
  phone: string,
): Promise<{ readonly accountId: string; readonly qr: string }> {
  const connect = await api.post('/channels/msgapp-web/connections', { phone_number: phone });
  if (connect.status !== 200) throw new Error(`connect: ${JSON.stringify(connect.body)}`);
  const qr = await until(`the QR code of ${phone}`, async () => {
    const answer = await api.get(`/channels/msgapp-web/connections/${phone}/qr`);
    return answer.status === 200 ? (answer.body as { qr: string }).qr : undefined;
  });
  return { accountId: (connect.body as { account_id: string }).account_id, qr };
}

/** Connects a number of a live tenant by QR code; answers the account's id. */
export async function linkLive(
  api: Client,
  network: NetworkControl,
  phone: string,
): Promise<string> {
  const { accountId, qr } = await showQr(api, phone);
  await network.scan(phone, qr);
  await connected(api, phone);
  return accountId;
}

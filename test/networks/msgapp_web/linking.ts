import type { Client } from '../../harness/client.ts';
import { statusOf, untilLinked } from '../../harness/lost-links.ts';
import { isLost, mostLost, until } from '../../harness/story.ts';
import type { NetworkControl } from './control.ts';

/** Begins to link a number of a live tenant; answers the account's id and the QR code that is shown. */
export async function showQr(
  api: Client,
  phone: string,
): Promise<{ readonly accountId: string; readonly qr: string }> {
  const begin = async () => {
    const connect = await api.post('/channels/msgapp-web/connections', { phone_number: phone });
    if (connect.status !== 200) throw new Error(`connect: ${JSON.stringify(connect.body)}`);
    return (connect.body as { account_id: string }).account_id;
  };
  let accountId = await begin();
  let lost = 0;
  const qr = await until(`the QR code of ${phone}`, async () => {
    const answer = await api.get(`/channels/msgapp-web/connections/${phone}/qr`);
    if (answer.status === 200) return (answer.body as { qr: string }).qr;
    if (!isLost(await statusOf(api, 'msgapp', phone))) return undefined;
    lost += 1;
    if (lost > mostLost) throw new Error(`${phone} is lost again and again`);
    accountId = await begin();
    return undefined;
  });
  return { accountId, qr };
}

/** Connects a number of a live tenant by QR code; answers the account's id. */
export async function linkLive(
  api: Client,
  network: NetworkControl,
  phone: string,
): Promise<string> {
  return await untilLinked(api, 'msgapp', phone, async () => {
    const { accountId, qr } = await showQr(api, phone);
    await network.scan(phone, qr);
    return accountId;
  });
}

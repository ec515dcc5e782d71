import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Client } from '../../harness/client.ts';
import type { Fleet, FleetTenant } from '../../harness/fleet.ts';
import {
  befall,
  bodyOf,
  type ConnectionStatus,
  phoneNumber,
  scan,
  sendAccepted,
  undated,
  unhindered,
  until,
  untilMessage,
  untilStatus,
} from '../../harness/story.ts';
import { accountEvents } from '../recorded.ts';

const connections = '/channels/msgapp-web/connections';
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Started {
  readonly status: string;
  readonly link_method: string;
  readonly account_id: string;
  readonly pairing_code: string | null;
  readonly expires_at: string | null;
}

/** Starts a pairing, which must be allowed. */
async function connect(api: Client, phone_number: string, more: object = {}): Promise<Started> {
  const answer = await api.post(connections, { phone_number, ...more });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return bodyOf<Started>(answer);
}

interface Qr {
  readonly status: string;
  readonly qr: string;
  readonly qr_image: string;
  readonly expires_at: string;
}

/** Waits for a QR code; until there is one, the answer must be that it is not ready. */
async function qrOf(api: Client, phone: string): Promise<Qr> {
  return await until(`a QR code for ${phone}`, async () => {
    const answer = await api.get(`${connections}/${phone}/qr`);
    if (answer.status === 200) return bodyOf<Qr>(answer);
    const { error_code } = bodyOf<{ error_code: string }>(answer);
    if (error_code !== 'qr_not_ready') throw new Error(JSON.stringify(answer.body));
    return undefined;
  });
}

interface PhoneView {
  readonly state: string;
  readonly qr: string | null;
  readonly pairing_code: string | null;
}

async function phoneView(api: Client, phone: string): Promise<PhoneView> {
  return bodyOf<PhoneView>(await api.get(`/sandbox/phones/${phone}`));
}

/** Waits until the account's session has noticed a loss, which after the last code only the log shows. */
async function untilLost({ gateways }: Fleet, accountId: string): Promise<void> {
  const noticed = new RegExp(`"accountId":"${accountId}".*"msg":"out of reach"`);
  await until(`the loss of ${accountId}`, async () =>
    gateways.some((gateway) => noticed.test(gateway.output())) ? true : undefined,
  );
}

async function byQr(t: Test, fleet: Fleet, { id: tenantId, api }: FleetTenant): Promise<void> {
  const { rows } = fleet;
  const phone = phoneNumber(1);
  const path = `${connections}/${phone}`;
  const begun = await connect(api, phone);
  t.match(begun, { status: 'connecting', link_method: 'qr', pairing_code: null });
  t.match(begun.expires_at, isoTime);
  const first = await qrOf(api, phone);
  t.match(first, { status: 'connecting', expires_at: isoTime });
  const png = Buffer.from(first.qr_image.replace('data:image/png;base64,', ''), 'base64');
  t.equal(png.subarray(1, 4).toString(), 'PNG');
  t.match(await phoneView(api, phone), { state: 'pairing', qr: first.qr });
  t.strictSame(undated((await api.get(`${path}/status`)).body), {
    ...{ phone_number: phone, status: 'connecting', ...unhindered },
  });

  const again = await connect(api, phone);
  t.equal(again.account_id, begun.account_id, 'an unfinished pairing is reset, without force_new');
  const second = await qrOf(api, phone);
  t.not(second.qr, first.qr);
  t.match(await phoneView(api, phone), { state: 'pairing', qr: second.qr });

  await befall(api, phone, { type: 'expire_qr' });
  await until('the last code to run out', async () =>
    (await api.get(`${path}/qr`)).status === 410 ? true : undefined,
  );
  t.match(await api.get(`${path}/qr`), { status: 410, body: { error_code: 'qr_expired' } });
  t.match((await api.get(`${path}/status`)).body, { status: 'connecting', reason: null });
  t.match(await api.post(`/sandbox/phones/${phone}/scan`), { status: 409 });
  await api.put('/sandbox/network', { reachable: false });
  await untilLost(fleet, begun.account_id);
  await api.put('/sandbox/network', { reachable: true });
  // Longer than the pause before a further try.
  await pause(1_500);
  t.match(await api.get(`${path}/qr`), { status: 410 }, 'a lost network begins no new pairing');
  t.match((await api.get(`${path}/status`)).body, { status: 'connecting', reason: null });
  const third = await connect(api, phone);
  t.equal(third.account_id, begun.account_id);
  await qrOf(api, phone);
  t.strictSame(await accountEvents(rows, tenantId, begun.account_id), [], 'nothing happened yet');

  // With and without the plus, encoded or not, it is the same number.
  await scan(api, phone.slice(1));
  await untilStatus(api, 'msgapp', phone, 'connected');
  await untilStatus(api, 'msgapp', encodeURIComponent(phone), 'connected');
  t.match(await phoneView(api, phone), { state: 'linked', qr: null });
  t.match(await api.get(`${path}/qr`), { status: 400, body: { error_code: 'qr_not_applicable' } });
  t.strictSame(await accountEvents(rows, tenantId, begun.account_id), [
    'account.connected connected null',
  ]);
}

async function byCode(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant): Promise<void> {
  const phone = phoneNumber(2);
  const path = `${connections}/${phone}`;
  const qr = await connect(api, phone);
  await qrOf(api, phone);
  const first = await connect(api, phone, { link_method: 'pairing_code' });
  t.equal(first.account_id, qr.account_id, 'another method resets the pairing too');
  t.match(first, { status: 'connecting', link_method: 'pairing_code', expires_at: isoTime });
  t.match(first.pairing_code, /^[0-9A-Z]{8}$/);
  t.match(await phoneView(api, phone), { qr: null, pairing_code: first.pairing_code });
  t.match(await api.get(`${path}/qr`), { status: 400, body: { error_code: 'qr_not_applicable' } });
  const second = await connect(api, phone, { link_method: 'pairing_code' });
  t.not(second.pairing_code, first.pairing_code);
  await scan(api, phone);
  await untilStatus(api, 'msgapp', phone, 'connected');
  t.strictSame(await accountEvents(rows, tenantId, first.account_id), [
    'account.connected connected null',
  ]);
}

async function givenUp(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant) {
  const phone = phoneNumber(3);
  const { account_id } = await connect(api, phone);
  await qrOf(api, phone);
  const path = `${connections}/${phone}`;
  t.strictSame((await api.delete(path)).body, { phone_number: phone, status: 'removed' });
  for (const gone of [
    await api.delete(path),
    await api.get(`${path}/qr`),
    await api.get(`${path}/status`),
  ]) {
    t.match(gone, { status: 404, body: { error_code: 'connection_not_found' } });
  }
  t.match(await api.post(`/sandbox/phones/${phone}/scan`), { status: 409 }, 'nothing to scan');
  t.strictSame(await accountEvents(rows, tenantId, account_id), [], 'it never was connected');
}

async function outOfReach(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant) {
  const [linked, fresh] = [phoneNumber(4), phoneNumber(5)];
  const { account_id } = await connect(api, linked);
  await scan(api, linked);
  await untilStatus(api, 'msgapp', linked, 'connected');
  await api.put('/sandbox/network', { reachable: false });
  await untilStatus(api, 'msgapp', linked, 'connecting');
  const waiting = await sendAccepted(api, { account_id, to: { phone: phoneNumber(100) } });

  const begun = await connect(api, fresh);
  t.match(begun, { status: 'connecting', pairing_code: null });
  const notReady = { status: 404, body: { error_code: 'qr_not_ready' } };
  t.match(await api.get(`${connections}/${fresh}/qr`), notReady);
  const away = await until('the reason', async () => {
    const status = bodyOf<ConnectionStatus>(await api.get(`${connections}/${fresh}/status`));
    return status.reason === null ? undefined : status;
  });
  t.match(away, {
    status: 'connecting',
    reason: 'network_unreachable',
    detail: 'The simulated network cannot be reached: it is tried again.',
  });
  const code = await connect(api, fresh, { link_method: 'pairing_code' });
  t.match(code, { account_id: begun.account_id, pairing_code: null });

  await api.put('/sandbox/network', { reachable: true });
  await connect(api, fresh);
  await scan(api, fresh);
  await untilStatus(api, 'msgapp', fresh, 'connected');
  await untilMessage(api, waiting, 'read');
  t.strictSame(
    await accountEvents(rows, tenantId, account_id),
    ['account.connected connected null'],
    'and back: nothing raised',
  );
}

/** `open`, the other name of `connected`, is never used; the numbers come back when the network does. */
async function names(t: Test, { api }: FleetTenant): Promise<void> {
  const { accounts } = bodyOf<{ accounts: { identifier: string }[] }>(await api.get('/accounts'));
  for (const { identifier } of accounts) await untilStatus(api, 'msgapp', identifier, 'connected');
  t.match((await api.get('/usage')).body, { accounts_total: 4, accounts_connected: 4 });
}

/** Every step of pairing a msgapp number. */
export async function pairingStates(t: Test, fleet: Fleet): Promise<void> {
  const tenant = await fleet.tenant('growth');
  await t.test('by QR code', (t) => byQr(t, fleet, tenant));
  await t.test('by pairing code', (t) => byCode(t, fleet, tenant));
  await t.test('given up', (t) => givenUp(t, fleet, tenant));
  await t.test('the network is out of reach', (t) => outOfReach(t, fleet, tenant));
  await t.test('names', (t) => names(t, tenant));
}

import { randomUUID } from 'node:crypto';
import type { ContactAddress, DriverAccount } from '../../core/contracts/driver.ts';
import {
  carriedOut,
  type PhoneAddress,
  type SimulatedControl,
} from '../../drivers/simulated/control.ts';
import type { DriverWorld } from '../contract/driver/world.ts';
import type { CountingProxy } from './counting-proxy.ts';

/** The nth of a row of numbers that exist in no real network. */
const phoneNumber = (n: number) => `+1202555${String(n).padStart(4, '0')}`;

/** So many contacts each account has in its address book. */
const mostContacts = 8;

/** The far side of the simulated driver: the simulated network, played through its control client. */
export function simulatedWorld(
  control: SimulatedControl,
  channel: string,
  proxy: CountingProxy,
): DriverWorld {
  const network = `ten_${randomUUID()}`;
  let accounts = 0;
  const at = ({ tenantId, channel, identifier }: DriverAccount): PhoneAddress => ({
    network: tenantId,
    channel,
    phone: identifier,
  });
  const befall = async (
    account: DriverAccount,
    type: Parameters<SimulatedControl['event']>[1]['type'],
    scope: 'all' | 'new_contacts' = 'all',
  ) => {
    carriedOut(await control.event(at(account), { type, scope, for_ms: null }));
  };
  const contactPhone = (number: number) => phoneNumber(9000 + number);
  const phoneOf = ({ phone }: ContactAddress) => {
    if (phone === null) throw new Error('the simulated network knows contacts by phone');
    return phone;
  };
  return {
    traffic: proxy.traffic,
    async account() {
      accounts += 1;
      const account = {
        id: `acc_${accounts}`,
        // A network of its own for each, so that one can be taken out of reach alone.
        tenantId: `${network}_${accounts}`,
        channel,
        identifier: phoneNumber(accounts),
      };
      const contacts = Array.from({ length: mostContacts }, (_, n) => ({
        phone: contactPhone(n + 1),
        name: null,
      }));
      await control.put(at(account), { send: 'sent', contacts });
      return account;
    },
    async scan(account, step) {
      const { qr, pairing_code } = carriedOut(await control.phone(at(account)));
      const shown = step.type === 'show_qr' ? step.data : step.code;
      if (shown !== (qr ?? pairing_code)) throw new Error('another code is to be scanned');
      carriedOut(await control.scan(at(account)));
    },
    // Its codes belong to a number: no other phone can scan them.
    scanAsAnother: null,
    async loginCode(account) {
      return carriedOut(await control.phone(at(account))).login_code ?? '';
    },
    async password() {
      throw new Error('this network has no login by password');
    },
    writeKind: null,
    setPassword: async (account, password) => {
      await control.put(at(account), { password });
    },
    codeRunsOut: (account) => befall(account, 'renew_qr'),
    codesExpire: (account) => befall(account, 'expire_qr'),
    refuseLogin: (account) => befall(account, 'refuse_login'),
    async setReachable({ tenantId }, reachable) {
      await control.setReachable(tenantId, reachable);
    },
    drop: (account) => befall(account, 'drop'),
    unlink: (account) => befall(account, 'log_out'),
    replace: (account) => befall(account, 'replace'),
    restrict: (account, scope) => befall(account, 'restrict', scope),
    lift: (account) => befall(account, 'lift_restriction'),
    async treatSends(account, how) {
      const send = ({ accept: 'sent', refuse: 'fail', hold: 'hang' } as const)[how];
      await control.put(at(account), { send });
    },
    contact: async (_, number) => ({ phone: contactPhone(number), networkId: null }),
    nobody: async () => ({ phone: null, networkId: 'nobody' }),
    async write(account, { from, name, text, networkId, mediaUrl }) {
      const message = {
        from: { phone: phoneOf(from), name },
        text,
        media_url: mediaUrl ?? null,
        network_id: networkId ?? null,
      };
      return (await control.inbound(at(account), message)).network_id;
    },
    async report(account, { reference }, status) {
      carriedOut(await control.receipt(at(account), reference, status));
    },
    async shown(account) {
      const outbox = carriedOut(await control.outbox(at(account)));
      return outbox.map(({ network_id, text, media_url }) => ({
        networkId: network_id,
        text,
        hasFile: media_url !== null,
      }));
    },
    async setPast(account, past) {
      await control.put(at(account), {
        contacts: past.contacts.map(({ contact, name }) => ({ phone: phoneOf(contact), name })),
        history: past.history.map(({ from, text, at }) => ({ from: phoneOf(from), text, at })),
      });
    },
  };
}

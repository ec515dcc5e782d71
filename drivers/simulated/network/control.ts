import type {
  ControlCalls,
  ControlRefusal,
  InboundText,
  PhoneEvent,
  PhoneView,
} from './control-protocol.ts';
import { contactsOffers } from './imports.ts';
import type { Network } from './network.ts';
import type { Phone } from './phone.ts';
import { changed, mediaOf, writerAddress, writerContact } from './phone-record.ts';
import type { PhoneAddress } from './protocol.ts';
import { newNetworkId } from './sending.ts';

/** A control call that is refused, with the reason. */
export class Refused extends Error {
  readonly reason: ControlRefusal;
  constructor(reason: ControlRefusal) {
    super(reason);
    this.reason = reason;
  }
}

/** What each control call does. @throws Refused */
export const controlCalls: {
  readonly [Call in keyof ControlCalls]: (
    network: Network,
    call: ControlCalls[Call]['in'],
  ) => ControlCalls[Call]['out'];
} = {
  networks: (network) => network.networks(),
  channels: (network, call) => network.channels(call.network, call.phone),
  phones: (network, call) => network.phonesOf(call.network).map((phone) => phone.view()),
  phone: (network, call) => known(network, call).view(),
  put: (network, call) => {
    const phone = network.findOrMake(call);
    phone.record = changed(phone.record, call.settings);
    const tellsContacts = phone.profile.alwaysGivesContacts && phone.linked;
    if (call.settings.contacts !== undefined && tellsContacts) {
      for (const event of contactsOffers(phone.profile, phone.record, true)) phone.offer(event);
    }
    return phone.view();
  },
  scan: (network, call) => {
    const phone = known(network, call);
    if (phone.link.pairing?.scan() !== true) throw new Refused('nothing_to_scan');
    return phone.view();
  },
  inbound: (network, call) => write(network, network.findOrMake(call), call.message),
  receipt: (network, { reference, status, ...address }) => {
    const phone = known(network, address);
    const message = network.store.accepted(phone.id, reference);
    if (message === null) throw new Refused('unknown_message');
    const error = status === 'failed' ? (phone.record.failReason ?? 'undeliverable') : null;
    const { networkId } = message;
    phone.offer({ type: 'receipt', reference, networkId, status, error, at: Date.now() });
    return phone.view();
  },
  outbox: (network, { limit, before, ...address }) =>
    network.store.outbox(known(network, address).id, { limit, before }),
  event: (network, { event, ...address }) => befall(network, known(network, address), event),
  is_reachable: (network, call) => network.isReachable(call.network),
  reachable: (network, call) => {
    network.setReachable(call.network, call.reachable);
    return { reachable: call.reachable };
  },
  forget: (network, call) => {
    network.forget(call.network);
    return { forgotten: true };
  },
};

function known(network: Network, address: PhoneAddress): Phone {
  const phone = network.find(address);
  if (phone === null) throw new Refused('unknown_phone');
  return phone;
}

/** A contact writes to a phone. A repeated id is offered again as the message that it was. */
function write(network: Network, phone: Phone, message: InboundText): { network_id: string } {
  const networkId = message.network_id ?? newNetworkId();
  const earlier = network.store.written(phone.id, networkId);
  const { from, text, media_url } = message;
  const event = earlier ?? {
    type: 'message',
    networkId,
    from: writerContact(phone.profile, from),
    text,
    media: media_url === null ? null : mediaOf(media_url),
    at: Date.now(),
  };
  if (earlier === null) network.store.addWritten(phone.id, networkId, writerAddress(from), event);
  phone.offer(event);
  return { network_id: networkId };
}

function befall(network: Network, phone: Phone, { type, scope, for_ms }: PhoneEvent): PhoneView {
  const events: Readonly<Record<PhoneEvent['type'], () => void>> = {
    log_out: () => phone.link.end('logged_out'),
    replace: () => phone.link.end('replaced'),
    restrict: () => phone.restrict(scope, for_ms),
    lift_restriction: () => phone.liftRestriction(),
    drop: () => network.drop(phone, for_ms),
    expire_qr: () => phone.link.pairing?.expire(),
    renew_qr: () => phone.link.pairing?.runOut(),
    refuse_login: () => phone.link.refuseLogin(),
  };
  events[type]();
  return phone.view();
}

import type { BlockedReason, DriverCapabilities } from '../../core/contracts/driver.ts';

/** How the simulated network plays one channel. Shared by the network and the driver. */
export interface ChannelProfile {
  readonly capabilities: DriverCapabilities;
  /** The text of a QR code, from the number and a secret that only this code carries. */
  qrText(phone: string, secret: string): string;
  /** Whether the gateway may see the code's secret as a login token. */
  readonly qrHasToken: boolean;
  /** How long each QR code lives, in milliseconds; after the last the pairing is expired. */
  readonly qrLifetimesMs: readonly number[];
  /** How long a pairing code lives, in milliseconds. */
  readonly pairingCodeMs: number;
  /** Whether the owner's two-factor password is asked for. */
  readonly asksPassword: boolean;
  /** The contacts are handed over at every link, asked for or not. */
  readonly alwaysGivesContacts: boolean;
  /** Contacts have an id of the network's own beside their phone. */
  readonly contactIds: boolean;
  /** Why a phone is restricted, and the code of a send that is refused because of it. */
  readonly restrictedCode: BlockedReason;
}

const webLinked: ChannelProfile = {
  capabilities: {
    deduplicates: true,
    window: 8,
    receipts: 'read',
    recipients: 'phone',
    linkMethods: ['qr', 'pairing_code'],
    imports: { contacts: true, history: true },
    media: true,
    paced: false,
  },
  qrText: (phone, secret) => `simulated:${phone}:${secret}`,
  qrHasToken: false,
  qrLifetimesMs: [60_000, 20_000, 20_000, 20_000, 20_000, 20_000],
  pairingCodeMs: 160_000,
  asksPassword: false,
  alwaysGivesContacts: false,
  contactIds: false,
  restrictedCode: 'blocked_by_msgapp',
};

const loginCode: ChannelProfile = {
  capabilities: {
    deduplicates: true,
    window: 8,
    receipts: 'read',
    recipients: 'contacts',
    linkMethods: ['code', 'qr'],
    imports: { contacts: true, history: false },
    media: true,
    paced: false,
  },
  qrText: (_phone, secret) => `tg://login?token=${secret}`,
  qrHasToken: true,
  qrLifetimesMs: Array.from({ length: 10 }, () => 30_000),
  pairingCodeMs: 160_000,
  asksPassword: true,
  alwaysGivesContacts: true,
  contactIds: true,
  restrictedCode: 'blocked_by_chatapp',
};

/** The profile of a channel; a channel that is not known is played as a web-linked one. */
export function profileOf(channel: string): ChannelProfile {
  return channel === 'chatapp' ? loginCode : webLinked;
}

import { randomBytes, randomInt } from 'node:crypto';
import type { LinkMethod } from '../../../core/contracts/driver.ts';
import type { ChannelProfile } from '../profiles.ts';
import type { SessionNotice } from './protocol.ts';

/** Phone of a pairing, as far as the pairing needs it. */
export interface PairedPhone {
  readonly phone: string;
  readonly profile: ChannelProfile;
  /** The two-factor password as it is now. */
  password(): string | null;
  notify(notice: SessionNotice): void;
  /** The owner agreed: the phone is to be linked. */
  linked(): void;
  /** The last code ran out. */
  expired(): void;
}

// Without the letters and digits that look alike.
const pairingAlphabet = '123456789ABCDEFGHJKLMNPQRSTVWXYZ';

/** One attempt to link a phone, from the first code to the owner's consent. Lives as long as its connection. */
export class PhonePairing {
  state: 'pairing' | 'code_sent' | 'password_required' = 'pairing';
  qr: string | null = null;
  pairingCode: string | null = null;
  loginCode: string | null = null;
  readonly #phone: PairedPhone;
  readonly #lifetimesMs: readonly number[];
  #shown = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(phone: PairedPhone, lifetimesMs: readonly number[]) {
    this.#phone = phone;
    this.#lifetimesMs = lifetimesMs;
  }

  begin(method: LinkMethod): void {
    if (method === 'qr') this.#showQr();
    else if (method === 'pairing_code') this.#showPairingCode();
    else this.#sendCode();
  }

  #sendCode(): void {
    this.state = 'code_sent';
    this.loginCode = String(randomInt(0, 100_000)).padStart(5, '0');
    this.#phone.notify({ type: 'step', step: { type: 'ask', field: 'code' } });
  }

  /** The owner scans or types what is shown. False when nothing is. */
  scan(): boolean {
    if (this.qr === null && this.pairingCode === null) return false;
    this.#agreed();
    return true;
  }

  /** What the user typed into the gateway. */
  answer(field: 'code' | 'password', value: string): 'accepted' | 'wrong' {
    if (field === 'code') {
      if (this.state !== 'code_sent' || value !== this.loginCode) return 'wrong';
      this.#agreed();
      return 'accepted';
    }
    if (this.state !== 'password_required' || value !== this.#phone.password()) return 'wrong';
    this.#done();
    return 'accepted';
  }

  /** The code that is shown runs out, as if its time were over. */
  runOut(): void {
    if (this.qr !== null) this.#showQr();
    else if (this.pairingCode !== null) this.#expire();
  }

  /** The code that is shown was the last one, and runs out. */
  expire(): void {
    if (this.qr !== null || this.pairingCode !== null) this.#expire();
  }

  /** Forgets everything, silently. */
  end(): void {
    clearTimeout(this.#timer);
    this.#hide();
  }

  #showQr(): void {
    const lifetimeMs = this.#lifetimesMs[this.#shown];
    if (lifetimeMs === undefined) {
      this.#expire();
      return;
    }
    this.#shown += 1;
    const { profile, phone } = this.#phone;
    const secret = randomBytes(24).toString('base64url');
    this.qr = profile.qrText(phone, secret);
    const step = {
      type: 'show_qr',
      data: this.qr,
      token: profile.qrHasToken ? secret : null,
      expiresAt: this.#after(lifetimeMs, () => this.#showQr()),
    } as const;
    this.#phone.notify({ type: 'step', step });
  }

  #showPairingCode(): void {
    const letter = () => pairingAlphabet[randomInt(0, pairingAlphabet.length)];
    this.pairingCode = Array.from({ length: 8 }, letter).join('');
    const expiresAt = this.#after(this.#phone.profile.pairingCodeMs, () => this.#expire());
    const step = { type: 'show_code', code: this.pairingCode, expiresAt } as const;
    this.#phone.notify({ type: 'step', step });
  }

  #agreed(): void {
    this.end();
    if (!this.#phone.profile.asksPassword || this.#phone.password() === null) {
      this.#done();
      return;
    }
    this.state = 'password_required';
    this.#phone.notify({ type: 'step', step: { type: 'ask', field: 'password' } });
  }

  #done(): void {
    this.end();
    this.#phone.linked();
  }

  #expire(): void {
    this.end();
    this.#phone.notify({ type: 'step', step: { type: 'expired' } });
    this.#phone.expired();
  }

  #hide(): void {
    this.qr = null;
    this.pairingCode = null;
    this.loginCode = null;
  }

  #after(lifetimeMs: number, then: () => void): number {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, lifetimeMs);
    return Date.now() + lifetimeMs;
  }
}

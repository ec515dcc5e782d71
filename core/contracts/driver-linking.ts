/** A way to link an account. The four known ones; a driver may bring others. */
export type LinkMethod = 'qr' | 'pairing_code' | 'code' | 'password' | (string & {});

/** How the user wants the account linked. */
export interface LinkRequest {
  readonly method: LinkMethod;
  readonly importContacts: boolean;
  readonly importHistory: boolean;
}

/** Something the user does or sees while an account is being linked. Data, for any user interface. */
export type LinkStep =
  /** Show this text as a QR code; a new step follows when the network renews it. */
  | {
      readonly type: 'show_qr';
      readonly data: string;
      readonly token: string | null;
      readonly expiresAt: number;
    }
  /** Show this code, to be typed on the phone. */
  | { readonly type: 'show_code'; readonly code: string; readonly expiresAt: number }
  /** Ask the user for a value and hand it to `answer`. */
  | AskStep
  /** The last QR code or pairing code ran out; only a new `link` brings another. */
  | { readonly type: 'expired' };

/** A question to the user. */
export interface AskStep {
  readonly type: 'ask';
  /** Lower case with underscores, at most 40 characters: `code`, `password`, or whatever the network wants. */
  readonly field: string;
  /** What to ask for, at most 100 characters; absent: the gateway's word for the two known fields, else the field. */
  readonly label?: string;
  /** Not to be shown while it is typed. Default: only a `password`. */
  readonly secret?: boolean;
}

/** What became of a value that was handed in. */
export type AnswerOutcome =
  | { readonly accepted: true }
  /** `detail`: a sentence for people, what was wrong with the value and what to do next. */
  | { readonly accepted: false; readonly detail: string };

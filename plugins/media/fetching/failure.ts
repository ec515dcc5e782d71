/** Why media could not be had, in the words of `Port.fetchMedia`. */
export type MediaFailureCode =
  | 'media_unavailable'
  | 'media_too_large'
  | 'media_type_not_allowed'
  | 'media_url_not_allowed';

/** Media that could not be had; its message is for whoever named it. */
export class MediaFailure extends Error {
  readonly code: MediaFailureCode;
  /** The same may work a little later. */
  readonly mayPass: boolean;

  constructor(code: MediaFailureCode, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.mayPass = options.mayPass ?? false;
  }
}

/** What else there is to say of a failure. */
export interface FailureOptions {
  readonly mayPass?: boolean;
  readonly cause?: unknown;
}

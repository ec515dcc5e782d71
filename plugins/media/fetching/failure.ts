import { DriverError } from '../../../core/contracts/driver.ts';

/** Reasons why media could not be fetched, as `Port.fetchMedia` names them. */
export type MediaFailureCode =
  | 'media_unavailable'
  | 'media_too_large'
  | 'media_type_not_allowed'
  | 'media_url_not_allowed';

/** Failure to fetch media; its message is for the user who gave the media. */
export class MediaFailure extends Error {
  readonly code: MediaFailureCode;
  /** Whether the failure is transient: another try may succeed. */
  readonly mayPass: boolean;

  constructor(code: MediaFailureCode, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.mayPass = options.mayPass ?? false;
  }
}

/** Options of a failure. */
export interface FailureOptions {
  readonly mayPass?: boolean;
  readonly cause?: unknown;
}

/** The error of a fetch whose session or send ended before the file was there. */
export function cutShort(): DriverError {
  const message = 'the session ended before the media was fetched';
  const options = { certain: true, retryAfterMs: 0, concerns: 'contact' } as const;
  return new DriverError('media_unavailable', message, options);
}

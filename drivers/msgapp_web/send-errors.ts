import { DriverError } from '../../core/contracts/driver.ts';
import { endText, type NewContactLimit } from './new-contact-limits.ts';
import { ackRefusal } from './receipts.ts';

/** The network does not take the message, and it is not sent again. */
export function refused(code: string, message: string): DriverError {
  return new DriverError(code, message, { certain: true });
}

/**
 * The network does not take a message to a new contact, and until when.
 * @param error the error number in its answer
 * @param limit null: it did not say how long that goes on
 */
export function newContactRefusal(error: string, limit: NewContactLimit | null): DriverError {
  const { code, message } = ackRefusal(error);
  if (limit?.isActive !== false)
    return refused(code, `${message} ${endText(limit?.until ?? null)}`);
  return refused(code, 'the network takes no first message to this contact: it has to write first');
}

/** The network may or may not have the message. */
export function noAnswer(): DriverError {
  return new DriverError('no_answer', 'the network did not answer', {
    certain: false,
    retryAfterMs: 0,
    concerns: 'contact',
  });
}

/** The connection broke while the message was handed over. */
export function uncertain(cause: unknown): DriverError {
  return new DriverError('connection_lost', 'the connection broke', {
    certain: false,
    retryAfterMs: 0,
    cause,
  });
}

/** A file that is to be sent was not uploaded: the message was not handed over. */
export class NotUploaded extends Error {
  constructor(cause: unknown) {
    super('the file could not be uploaded', { cause });
  }
}

/** What the library says when no media host has taken a file. */
const noHost = 'Media upload failed on all hosts';

/** What the library failed with, as `NotUploaded` where it was the upload. Pure. */
export function handOverFailure(error: unknown): unknown {
  return error instanceof Error && error.message === noHost ? new NotUploaded(error) : error;
}

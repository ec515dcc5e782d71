import { type ErrorCode, type ErrorDetail, GatewayError } from './errors.ts';
import { parsePhone } from './phone.ts';

/**
 * The refusal of one field of a request, whose sentence begins with the field's path.
 * @param path where the field is, such as `body/to/phone`
 * @param problem what follows the path in the sentence
 */
export function wrongField(
  path: string,
  problem: string,
  code: ErrorCode = 'invalid_request',
): GatewayError {
  return wrongFields([{ path, message: `${path} ${problem}` }], code);
}

/** The refusal of every wrong field of a request, whose sentence is that of the first. */
export function wrongFields(
  details: readonly ErrorDetail[],
  code: ErrorCode = 'invalid_request',
  cause?: unknown,
): GatewayError {
  return new GatewayError(code, { message: details[0]?.message, details, cause });
}

/** The refusal of a field that is no phone number. */
export function wrongPhone(path: string): GatewayError {
  const problem = 'must be a phone number in E.164 format, such as +12025550123';
  return wrongField(path, problem, 'invalid_phone_number');
}

/**
 * The phone number in a field of a request.
 * @throws GatewayError `invalid_phone_number` naming the field
 */
export function phoneField(path: string, text: string): string {
  const phone = parsePhone(text);
  if (phone === null) throw wrongPhone(path);
  return phone;
}

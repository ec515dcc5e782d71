import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, type ErrorDeclaration, errorTable } from './errors.ts';

/** The refusals that plugins declare as their own: each code means one thing in the whole gateway. */
export class ErrorDeclarations {
  readonly #known = new Map<string, ErrorDeclaration>();

  /** @throws Error when a declaration is wrong, or its code already means something else */
  claim(errors: readonly (ErrorCode | ErrorDeclaration)[], operationId: string): void {
    for (const error of errors) {
      if (typeof error === 'string') continue;
      const fault = faultOf(error, this.#known.get(error.code));
      if (fault !== null) {
        throw new Error(`operation "${operationId}" declares the error "${error.code}", ${fault}`);
      }
      this.#known.set(error.code, error);
    }
  }
}

function faultOf(error: ErrorDeclaration, known: ErrorDeclaration | undefined): string | null {
  const { code, status, text } = error;
  if (Object.hasOwn(errorTable, code)) return 'which the gateway has: name it by its code alone';
  if (known !== undefined && !isDeepStrictEqual(known, error)) {
    return 'which another operation declares otherwise';
  }
  if (!/^[a-z]+(_[a-z]+)*$/.test(code)) return 'which must be lower case words with underscores';
  if (!Number.isInteger(status) || status < 400 || status > 499 || status === 401) {
    return 'whose status must be one from 400 to 499, and not 401';
  }
  return text === '' ? 'which has no text' : null;
}

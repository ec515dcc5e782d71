import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { wrongFields } from '../../core/field-refusals.ts';
import type { JsonSchema } from '../../core/schemas.ts';
import { type RequestPart, validationDetails } from '../../core/validation-messages.ts';
import { refuseOpen, withoutNames } from './schemas.ts';

/** Larger values are not searched for every mistake: the list of details could become as large. */
const thoroughUpTo = 16_384;

function makeAjv(options: Options): Ajv2020 {
  // JSON.parse reads 1e400 as Infinity, which JSON cannot write.
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    useDefaults: true,
    validateSchema: false,
    ...options,
  });
  // ajv-formats is CommonJS: its function is a property of what an ES module imports.
  ajvFormats.default(ajv);
  ajv.addFormat('date-time', { type: 'string', validate: isMoment });
  return ajv;
}

// ajv-formats declares each of its formats as a format of any kind: this one has a function.
const dateTime = ajvFormats.default.get('date-time') as { validate(text: string): boolean };

/** RFC 3339 without leap seconds, which JavaScript does not have, and in a year that an answer can write in UTC. */
function isMoment(text: string): boolean {
  const year = new Date(text).getUTCFullYear();
  return dateTime.validate(text) && year >= 0 && year <= 9_999;
}

let quick: Ajv2020 | undefined;
let thorough: Ajv2020 | undefined;
let careful: Ajv2020 | undefined;

/**
 * Checks one part of a request against its schema, without converting anything. The schema is compiled when it is first
 * needed: compiling all of them would be a good part of a start.
 */
export class PartValidator {
  readonly #part: RequestPart;
  readonly #schema: JsonSchema;
  #check: ValidateFunction | undefined;
  #checkAll: ValidateFunction | undefined;

  /** @throws Error when the schema lets unknown fields pass */
  constructor(part: RequestPart, schema: object, operationId: string) {
    this.#part = part;
    this.#schema = withoutNames(schema);
    refuseOpen(this.#schema, `the ${part} of operation "${operationId}"`);
  }

  /**
   * For operations from outside, whose schemas no test of the gateway has tried. Called while booting.
   * @throws Error when the schema is none, or cannot be compiled
   */
  refuseWrongSchema(): void {
    careful ??= makeAjv({ validateSchema: true });
    careful.compile(this.#schema);
  }

  /**
   * Fills in defaults.
   * @param size about how large the value is, in bytes
   * @throws GatewayError `invalid_request` naming the wrong fields
   */
  check(value: unknown, size = 0): void {
    quick ??= makeAjv({ allErrors: false });
    this.#check ??= quick.compile(this.#schema);
    const check = this.#check;
    if (check(value)) return;
    let errors = check.errors ?? [];
    if (size <= thoroughUpTo) {
      thorough ??= makeAjv({ allErrors: true });
      this.#checkAll ??= thorough.compile(this.#schema);
      this.#checkAll(value);
      errors = this.#checkAll.errors ?? errors;
    }
    throw wrongFields(validationDetails(this.#part, errors));
  }
}

import type { GatewayError } from '../../core/errors.ts';
import { wrongField } from '../../core/field-refusals.ts';
import type { RequestPart } from '../../core/validation-messages.ts';
import { plainSchema } from './schemas.ts';

const kinds = ['integer', 'number', 'boolean'] as const;
type Kind = (typeof kinds)[number];

const numeric = /^-?\d{1,20}(?:\.\d{1,20})?$/;

/**
 * Coerces the texts of path and query: `5` becomes a number where the schema says integer or number, `true` and `false`
 * become booleans where it says boolean. Anything else stays for the validator to refuse.
 */
export class TextCoercion {
  readonly #part: RequestPart;
  readonly #kinds = new Map<string, Kind>();

  constructor(part: RequestPart, schema: object) {
    this.#part = part;
    const { properties = {} } = plainSchema(schema);
    for (const [name, property] of Object.entries(
      properties as Record<string, { type?: unknown }>,
    )) {
      const types = [property.type].flat();
      const kind = kinds.find((candidate) => types.includes(candidate));
      if (kind !== undefined) this.#kinds.set(name, kind);
    }
  }

  /** @throws GatewayError `invalid_request` for a parameter given twice and for NUL */
  read(texts: object): Record<string, unknown> {
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, text] of Object.entries(texts)) {
      if (typeof text !== 'string') throw wrongValue(this.#part, name, 'must be given only once');
      if (text.includes('\0')) throw wrongValue(this.#part, name, 'must not contain NUL');
      values[name] = convert(text, this.#kinds.get(name));
    }
    return values;
  }
}

/** A refusal of one value of a request. @param predicate what follows its path in the sentence */
export function wrongValue(part: RequestPart, name: string, predicate: string): GatewayError {
  return wrongField(`${part}/${name.slice(0, 100)}`, predicate);
}

function convert(text: string, kind: Kind | undefined): unknown {
  if (kind === undefined) return text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return numeric.test(text) ? Number(text) : text;
}

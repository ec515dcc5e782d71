import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from './errors.ts';
import { emptyOrNotBlank, notBlank } from './schemas.ts';

/** The parts of a request that are validated, as `path` in a detail begins. */
export type RequestPart = 'path' | 'query' | 'header' | 'body';

/** A refusal names at most so many wrong fields. */
export const maxDetails = 20;

/** Ajv's errors as sentences that name the field, for a person. At least one. */
export function validationDetails(
  part: RequestPart,
  errors: readonly ErrorObject[],
): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const error of withoutBranches(errors)) {
    const detail = validationDetail(part, error, errors);
    if (details.some(({ message }) => message === detail.message)) continue;
    details.push(detail);
    if (details.length === maxDetails) break;
  }
  return details;
}

/** Of a choice (`anyOf`) only the most precise errors stay: those deeper than the choice, else the choice. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let kept = errors;
  for (const choice of errors) {
    if (choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') continue;
    const branches = kept.filter((error) => error.schemaPath.startsWith(`${choice.schemaPath}/`));
    const deeper = branches.filter((error) => where(error).length > choice.instancePath.length);
    const dropped = new Set<ErrorObject>(
      deeper.length > 0 && !isListOfRequired(branches)
        ? [choice, ...branches.filter((error) => !deeper.includes(error))]
        : branches,
    );
    kept = kept.filter((error) => !dropped.has(error));
  }
  return kept;
}

function isListOfRequired(branches: readonly ErrorObject[]): boolean {
  return branches.every((error) => error.keyword === 'required');
}

/** Path of the field that is wrong, one level deeper for a field that is missing or too many. */
function where({ keyword, instancePath, params }: ErrorObject): string {
  if (keyword === 'required') return `${instancePath}/${params.missingProperty}`;
  if (keyword === 'additionalProperties') {
    return `${instancePath}/${shortened(params.additionalProperty)}`;
  }
  return instancePath;
}

function validationDetail(
  part: RequestPart,
  error: ErrorObject,
  all: readonly ErrorObject[],
): ErrorDetail {
  const path = `${part}${where(error)}`;
  if (error.keyword === 'additionalProperties') {
    const noun = part === 'query' ? 'parameter' : 'field';
    const name = JSON.stringify(shortened(error.params.additionalProperty));
    return { path, message: `${part}${error.instancePath} has an unknown ${noun} ${name}` };
  }
  if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
    const branches = all.filter(({ schemaPath }) => schemaPath.startsWith(`${error.schemaPath}/`));
    if (branches.length > 0 && isListOfRequired(branches)) {
      const names = branches.map(({ params }) => JSON.stringify(params.missingProperty));
      return { path, message: `${path} needs at least one of ${names.join(', ')}` };
    }
  }
  return { path, message: `${path} ${predicate(error)}` };
}

function predicate({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${types(params.type)}`;
    case 'enum':
      return `must be one of ${params.allowedValues.map(String).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'minLength':
      return params.limit === 1
        ? 'must not be empty'
        : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} items`;
    case 'maxItems':
      return `must have at most ${params.limit} items`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'minProperties':
      return params.limit === 1
        ? 'must have at least one field'
        : `must have at least ${params.limit} fields`;
    case 'pattern':
      return params.pattern === notBlank || params.pattern === emptyOrNotBlank
        ? 'must not be only blanks'
        : 'does not have the right form';
    case 'format':
      return `must be a valid ${params.format}`;
    case 'anyOf':
    case 'oneOf':
      return 'has none of the allowed forms';
    default:
      return message ?? 'is not valid';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function types(type: string | readonly string[]): string {
  return [type]
    .flat()
    .map((name) => typeNames[name] ?? name)
    .join(' or ');
}

/** A name that a caller gave, cut where it is long. */
export function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100).replace(/[\uD800-\uDBFF]$/, '')}…` : name;
}

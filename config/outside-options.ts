import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { ConfigError } from './error.ts';

/** The default export of a package from outside; its product is unchecked. */
export interface OutsideFactory<Context extends object, Made> {
  (context: Context): Made;
  readonly optionsSchema?: object;
}

/**
 * Calls a factory from outside with options that its own schema has checked and completed.
 * @param field path of the options in the configuration, `channels.xmpp.options`
 * @throws ConfigError that names the wrong option, or what the factory throws
 */
export function makeWithOptions<Context extends OptionsContext, Made>(
  factory: OutsideFactory<Context, Made>,
  context: Context,
  field: string,
): Made {
  const { optionsSchema: schema } = factory;
  const options =
    schema === undefined ? context.options : checkedOptions(schema, context.options, field);
  return factory({ ...context, options });
}

interface OptionsContext {
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Checks the options of a package from outside by its own schema. Pure.
 * @param field path of the options in the configuration, `channels.xmpp.options`
 * @returns the options with the schema's defaults filled in
 * @throws ConfigError that names the first wrong field and what it must be; never shows a value
 */
function checkedOptions(
  schema: object,
  options: Readonly<Record<string, unknown>>,
  field: string,
): Readonly<Record<string, unknown>> {
  const check = new Ajv2020({ strict: false, useDefaults: true }).compile(schema);
  const checked = structuredClone(options);
  if (check(checked)) return checked;
  const [error] = check.errors ?? [];
  throw new ConfigError(field, error === undefined ? `${field} is wrong` : complaint(error, field));
}

function complaint({ instancePath, keyword, params, message }: ErrorObject, field: string): string {
  const optionPath = [field, ...instancePath.split('/').slice(1)].join('.');
  if (keyword === 'required') return `${optionPath}.${params.missingProperty} is missing`;
  if (keyword === 'additionalProperties') {
    return `${optionPath}.${params.additionalProperty} is no option of this package`;
  }
  if (keyword === 'enum') return `${optionPath} must be one of ${params.allowedValues.join(', ')}`;
  return `${optionPath} ${message}`;
}

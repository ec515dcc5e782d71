import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/**
 * Checks a driver's options by the driver's own schema. Pure.
 * @param field where the options stand in the configuration, `channels.xmpp.options`
 * @returns the options with the schema's defaults filled in
 * @throws Error that names the first wrong field and what it must be; never shows a value
 */
export function checkedOptions(
  schema: object,
  options: Readonly<Record<string, unknown>>,
  field: string,
): Readonly<Record<string, unknown>> {
  const check = new Ajv2020({ strict: false, useDefaults: true }).compile(schema);
  const checked = structuredClone(options);
  if (check(checked)) return checked;
  throw new Error(check.errors?.[0] ? complaint(check.errors[0], field) : `${field} is wrong`);
}

function complaint({ instancePath, keyword, params, message }: ErrorObject, field: string): string {
  const place = [field, ...instancePath.split('/').slice(1)].join('.');
  if (keyword === 'required') return `${place}.${params.missingProperty} is missing`;
  if (keyword === 'additionalProperties') {
    return `${place}.${params.additionalProperty} is no option of this driver`;
  }
  if (keyword === 'enum') return `${place} must be one of ${params.allowedValues.join(', ')}`;
  return `${place} ${message}`;
}

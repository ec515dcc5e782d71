import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../plugins/api/openapi/document.ts';
import { outgoingCalls } from '../../plugins/webhooks/outgoing-calls.ts';
import { closed, type JsonObject } from './openapi.ts';
import type { Received } from './receiver.ts';

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

const document = openApiDocument([], outgoingCalls, 'http://localhost/v1');
const { parameters } = document.components as { parameters: Record<string, Parameter> };
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
ajv.addSchema(closed(document) as JsonObject, 'openapi');
const validators = new Map<string, ValidateFunction>();

function validatorOf(location: string): ValidateFunction {
  const known = validators.get(location);
  if (known !== undefined) return known;
  const made = ajv.compile({ $ref: `openapi#${location}` });
  validators.set(location, made);
  return made;
}

/** What the `webhooks` of the OpenAPI document do not know of a delivery; nothing of what is no delivery of the gateway. */
export function deliveryComplaints({ headers, rawBody }: Received): readonly string[] {
  if (headers['user-agent'] !== 'Webhook-Delivery/1.0') return [];
  const event = String(headers['x-webhook-event']);
  if (document.webhooks?.[event] === undefined) return [`the event ${event}`];
  const body = `/webhooks/${event}/post/requestBody/content/application~1json/schema`;
  return [
    ...complaint(`the body of ${event}`, body, JSON.parse(rawBody.toString('utf8'))),
    ...Object.values(parameters).flatMap(({ name, required }) => {
      const value = headers[name.toLowerCase()];
      if (value === undefined) return required ? [`${event} without ${name}`] : [];
      return complaint(name, `/components/parameters/${name}/schema`, value);
    }),
    ...Object.keys(headers)
      .filter((name) => /^(x-)?webhook-/.test(name))
      .filter((name) => !Object.keys(parameters).some((one) => one.toLowerCase() === name))
      .map((name) => `the header ${name}`),
  ];
}

function complaint(what: string, location: string, value: unknown): readonly string[] {
  const validate = validatorOf(location);
  return validate(value) ? [] : [`${what}: ${ajv.errorsText(validate.errors)}`];
}

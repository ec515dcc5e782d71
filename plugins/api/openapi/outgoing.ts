import type { OutgoingCall } from '../../../core/outgoing-call.ts';
import type { SharedSchemas } from './components.ts';

/** The `webhooks` of the document and the parameters that they share. */
export interface OutgoingSection {
  readonly webhooks: Readonly<Record<string, object>>;
  readonly parameters: Readonly<Record<string, object>>;
}

/**
 * What the gateway calls, as the document shows it.
 * @param tag the chapter that they belong to
 */
export function outgoingSection(
  calls: readonly OutgoingCall[],
  tag: string,
  shared: SharedSchemas,
): OutgoingSection {
  const headers = new Map(calls.flatMap((call) => call.headers.map((one) => [one.name, one])));
  const parameters = [...headers].map(([name, { description, required, schema }]) => [
    name,
    { name, in: 'header', required, description, schema: shared.place(schema) },
  ]);
  const webhooks = calls.map((call) => [
    call.name,
    {
      post: {
        operationId: `receive_${call.name.replaceAll('.', '_')}`,
        tags: [tag],
        summary: call.summary,
        description: call.description,
        // The gateway has no key of its receivers.
        security: [],
        parameters: call.headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: shared.placeOpen(call.body),
              examples: { sample: { value: call.example } },
            },
          },
        },
        responses: Object.fromEntries(
          Object.entries(call.answers).map(([status, description]) => [status, { description }]),
        ),
      },
    },
  ]);
  return { webhooks: Object.fromEntries(webhooks), parameters: Object.fromEntries(parameters) };
}

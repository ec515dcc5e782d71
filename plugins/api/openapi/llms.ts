import type { AnyOperation, OperationExample } from '../../../core/operation.ts';
import { plainSchema } from '../schemas.ts';
import { codeSamples } from './code-samples.ts';
import type { OpenApiDocument } from './document.ts';
import { tagOf, tagsOf } from './groups.ts';
import { type Guide, guideText } from './guides.ts';
import { refusalsOf } from './refusals.ts';

/** Dependencies of the texts for language models: the sources of the reference. */
export interface LlmsParts {
  readonly operations: readonly AnyOperation[];
  readonly guides: readonly Guide[];
  readonly document: OpenApiDocument;
  /** Where clients reach the gateway, without a slash at the end. */
  readonly url: string;
}

/** The operations of the shortest useful program, shown in full even in the short text. */
const first = ['send_message', 'wait_for_messages', 'get_message'];

/** `/llms.txt`: how to begin, the guides, and a line for each operation. */
export function llmsText(parts: LlmsParts): string {
  const { operations, guides, url } = parts;
  return [
    ...opening(parts),
    '## How to begin',
    '',
    `Everything in one file: ${url}/llms-full.txt. The OpenAPI document: ${url}/v1/docs/openapi.json. Agents: the MCP server at ${url}/mcp has most operations as tools.`,
    '',
    'A bot sends with `POST /messages` and reads with `GET /messages/wait` in a loop: each answer has `next_cursor`, which goes into the next call as `cursor`, so that every incoming message comes exactly once along the cursor. Keep the cursor after the messages were dealt with, and answer with the header `Idempotency-Key: answer-` and the id of the message: then a bot that dies and starts again neither misses a message nor answers one twice within 24 hours.',
    '',
    ...operations
      .filter(({ id }) => first.includes(id))
      .flatMap((operation) => [`### ${titleOf(operation)}`, '', ...sampleOf(operation, parts)]),
    '## Guides',
    '',
    ...guides.map(({ name, title, about }) => `- [${title}](${url}/v1/docs/${name}.md): ${about}`),
    '',
    ...tagsOf(operations).flatMap(({ name, description }) => [
      `## ${name}`,
      '',
      description,
      '',
      ...operations.filter(({ group }) => tagOf(group).name === name).map(lineOf),
      '',
    ]),
  ].join('\n');
}

/** `/llms-full.txt`: every operation with its fields, samples and refusals, every schema, and the guides in full. */
export function llmsFullText(parts: LlmsParts): string {
  const { operations, guides, document, url } = parts;
  return [
    ...opening(parts),
    ...tagsOf(operations).flatMap(({ name, description }) => [
      `## ${name}`,
      '',
      description,
      '',
      ...operations
        .filter(({ group }) => tagOf(group).name === name)
        .flatMap((operation) => chapterOf(operation, parts)),
    ]),
    '## Schemas',
    '',
    'As the OpenAPI document has them, in JSON Schema.',
    '',
    '```json',
    JSON.stringify(document.components.schemas),
    '```',
    '',
    ...guides.map((guide) => `${guideText(guide, guides, `${url}/v1/docs`)}\n`),
  ].join('\n');
}

function opening({ document, url }: LlmsParts): readonly string[] {
  const { title, summary, description } = document.info;
  return [`# ${title}`, '', `> ${summary}`, '', `Base URL: ${url}/v1`, '', description, ''];
}

function chapterOf(operation: AnyOperation, parts: LlmsParts): readonly string[] {
  const object = parts.document.paths[operation.path]?.[operation.method.toLowerCase()];
  // Only what describes the request: answers are in the samples and under "Schemas".
  const { parameters, requestBody } = { parameters: [], requestBody: null, ...object };
  const refusals = [...refusalsOf(operation).values()].flat().map(({ code }) => `\`${code}\``);
  return [
    `### ${titleOf(operation)}`,
    '',
    `\`${operation.id}\`${operation.tool === null ? '' : ', also an MCP tool'}. ${operation.description}`,
    '',
    ...(parameters.length === 0 ? [] : [`Parameters: \`${JSON.stringify(parameters)}\``, '']),
    ...(requestBody === null ? [] : [`Body: \`${JSON.stringify(requestBody)}\``, '']),
    ...sampleOf(operation, parts),
    `Refusals: ${refusals.join(', ')}`,
    '',
  ];
}

function sampleOf(operation: AnyOperation, { url }: LlmsParts): readonly string[] {
  const [sample] = codeSamples(operation, `${url}/v1`);
  const [example] = operation.examples;
  return [
    ...(sample === undefined ? [] : ['```sh', sample.source, '```', '']),
    ...(example === undefined ? [] : answerOf(example)),
  ];
}

function answerOf({ answer }: OperationExample): readonly string[] {
  return [`Answer ${answer.status}:`, '', '```json', JSON.stringify(answer.body), '```', ''];
}

function titleOf({ method, path, summary }: AnyOperation): string {
  return `${method} ${path}: ${summary}`;
}

function lineOf({ method, path, summary, query, body }: AnyOperation): string {
  const fields = [query, body].flatMap((schema) => {
    const { properties = {} }: { readonly properties?: object } = plainSchema(schema ?? {});
    return Object.keys(properties);
  });
  const takes = fields.length === 0 ? '' : ` (${fields.map((name) => `\`${name}\``).join(', ')})`;
  return `- \`${method} ${path}\`: ${summary}${takes}`;
}

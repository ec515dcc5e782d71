import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../core/errors.ts';
import type { AnyOperation } from '../../core/operation.ts';
import { type KeyRights, scopeRefusal } from '../../core/scopes.ts';
import { describe } from './description.ts';
import { type ArgumentSchemas, argumentSchemas, outputSchema } from './schemas.ts';

/** A tool, made from the declaration of its operation. */
export interface OperationTool extends ArgumentSchemas {
  readonly operation: AnyOperation;
  /** As `tools/list` shows it. */
  readonly listed: Tool;
}

/**
 * The tools of these operations, by name, in their order; an operation without a tool has none.
 * @throws Error when two parts of an operation claim the same argument
 */
export function toolsOf(operations: readonly AnyOperation[]): ReadonlyMap<string, OperationTool> {
  return new Map(
    operations.flatMap((operation) => {
      const { tool: name } = operation;
      return name === null ? [] : [[name, toolOf(name, operation)] as const];
    }),
  );
}

/**
 * The tool of this name; a sentence for the caller where there is none. Never of a name that is no text: whoever lets
 * calls pass by the header that repeats the name reads a text there.
 */
export function toolNamed(
  tools: ReadonlyMap<string, OperationTool>,
  name: unknown,
): OperationTool | string {
  const tool = typeof name === 'string' ? tools.get(name) : undefined;
  if (tool !== undefined) return tool;
  const wrong = typeof name === 'string' ? 'unknown tool' : 'params.name must be a string';
  return `${wrong}; the tools are: ${[...tools.keys()].join(', ')}`;
}

function toolOf(name: string, operation: AnyOperation): OperationTool {
  const { summary: title, hints } = operation;
  const schemas = argumentSchemas(operation);
  const { params, query, headers, body, required } = schemas;
  return {
    operation,
    ...schemas,
    listed: {
      name,
      title,
      description: describe(operation),
      inputSchema: {
        type: 'object',
        properties: { ...params, ...query, ...headers, ...(body === null ? {} : { body }) },
        required: [...required],
        additionalProperties: false,
      },
      outputSchema: outputSchema(operation),
      annotations: {
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
        openWorldHint: hints.openWorld ?? !hints.readOnly,
      },
    },
  };
}

/** The most lists that are kept: for each set of scopes and groups. */
const mostLists = 200;

/** Results of `tools/list` as JSON: a key sees the tools that it may call. */
export class ToolLists {
  readonly #tools: ReadonlyMap<string, OperationTool>;
  readonly #lists = new LRUCache<string, string>({ max: mostLists });

  constructor(tools: ReadonlyMap<string, OperationTool>) {
    this.#tools = tools;
  }

  /** The list for a key. @param groups the only groups that the client wants; null: all */
  of(rights: KeyRights, groups: readonly string[] | null): string {
    const { scopes, accountIds } = rights;
    const name = JSON.stringify([scopes && [...scopes].sort(), accountIds === null, groups]);
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const shown = [...this.#tools.values()].filter(
      ({ operation }) =>
        scopeRefusal(rights, operation) === null &&
        (groups === null || groups.includes(groupOf(operation))),
    );
    const list = JSON.stringify({ tools: shown.map(({ listed }) => listed) });
    this.#lists.set(name, list);
    return list;
  }
}

/**
 * The groups of tools that an address names, as in `/mcp?tools=messages,accounts`, sorted; null where it names none.
 * @throws GatewayError `invalid_request` for a group that there is not
 */
export function wantedGroups(
  query: unknown,
  tools: ReadonlyMap<string, OperationTool>,
): readonly string[] | null {
  const given = (query as { readonly tools?: unknown }).tools;
  if (given === undefined) return null;
  const known = [...new Set([...tools.values()].map(({ operation }) => groupOf(operation)))];
  const wanted = String(given).split(',');
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return known.filter((name) => wanted.includes(name)).sort();
  const message = `query/tools names "${unknown.slice(0, 60)}", which is no group of tools; there are ${known.join(', ')}`;
  const details = [{ path: 'query/tools', message }];
  throw new GatewayError('invalid_request', { message, details });
}

function groupOf({ group }: AnyOperation): string {
  return typeof group === 'string' ? group : group.name;
}

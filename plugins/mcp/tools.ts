import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AnyOperation } from '../../core/operation.ts';
import { type KeyRights, scopeRefusal } from '../../core/scopes.ts';
import { describe } from './description.ts';
import { type ArgumentSchemas, argumentSchemas } from './schemas.ts';

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

function toolOf(name: string, operation: AnyOperation): OperationTool {
  const { summary: title, hints } = operation;
  const schemas = argumentSchemas(operation);
  const { params, query, body, required } = schemas;
  return {
    operation,
    ...schemas,
    listed: {
      name,
      title,
      description: describe(operation),
      inputSchema: {
        type: 'object',
        properties: { ...params, ...query, ...(body === null ? {} : { body }) },
        required: [...required],
        additionalProperties: false,
      },
      annotations: {
        title,
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
        openWorldHint: hints.openWorld ?? !hints.readOnly,
      },
    },
  };
}

/** Results of `tools/list` as JSON: a key sees the tools that it may call. */
export class ToolLists {
  readonly #tools: ReadonlyMap<string, OperationTool>;
  // One for each set of scopes, with and without a limit to accounts: 128 at most.
  readonly #lists = new Map<string, string>();

  constructor(tools: ReadonlyMap<string, OperationTool>) {
    this.#tools = tools;
  }

  /** The list for a key. */
  of(rights: KeyRights): string {
    const { scopes, accountIds } = rights;
    const name = `${scopes === null ? 'all' : [...scopes].sort().join()} ${accountIds === null}`;
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const allowed = [...this.#tools.values()].filter(
      ({ operation }) => scopeRefusal(rights, operation) === null,
    );
    const list = JSON.stringify({ tools: allowed.map(({ listed }) => listed) });
    this.#lists.set(name, list);
    return list;
  }
}

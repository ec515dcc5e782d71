import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AnswerEvents } from './stateless/events/protocol.ts';
import type { Fields } from './stateless/protocol.ts';
import type { OperationTool } from './tools.ts';

/** Dependencies of one exchange, of whichever revision. */
export interface ExchangeParts {
  readonly tools: ReadonlyMap<string, OperationTool>;
  /** The result of `tools/list`, as JSON. */
  readonly list: string;
  /**
   * @param given the arguments as they came; an agent may have sent anything
   * @param meta `_meta` of the call, likewise
   */
  call(tool: OperationTool, given: unknown, meta: unknown): Promise<CallToolResult>;
  /** The methods of MCP Events, which only the revision without sessions has. */
  readonly events: AnswerEvents;
}

/** What became of a call of the newer revision, whose clients can be asked for more before it is done. */
export type StatelessOutcome =
  | { readonly result: CallToolResult }
  | { readonly asked: object }
  /** Invalid parameters, and why. */
  | { readonly refused: string };

/** Dependencies of one exchange of the newer revision. */
export interface StatelessParts extends Omit<ExchangeParts, 'call'> {
  /** @param params of `tools/call`, as they came */
  call(tool: OperationTool, params: Fields): Promise<StatelessOutcome>;
}

/** An HTTP answer. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string | Buffer;
}

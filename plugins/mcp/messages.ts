import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../../core/json-object.ts';
import { type JsonRpcError, jsonRpcError } from './json-rpc.ts';

/** Most messages of one POST: more than an agent has reason to send at once. */
const mostMessages = 20;

/** The content of a POST; `calls` of its messages call tools. */
export type ReadMessages =
  | {
      readonly messages: readonly JSONRPCMessage[];
      readonly batch: boolean;
      readonly calls: number;
    }
  | { readonly error: JsonRpcError };

/**
 * Reads the JSON-RPC messages of a parsed body: one, or several in an array.
 * @param admit called with the number of messages that call no tool, before the costly check of each, and with that of the
 *   others where these are refused
 * @param isTool whether there is a tool of this name
 * @throws what `admit` throws
 */
export function readMessages(
  body: unknown,
  admit: (count: number) => void,
  isTool: (name: unknown) => boolean,
): ReadMessages {
  const batch = Array.isArray(body);
  if (Array.isArray(body) && body.length > mostMessages) {
    admit(mostMessages);
    return refused(
      ErrorCode.InvalidRequest,
      `Invalid Request: more than ${mostMessages} messages at once`,
    );
  }
  const given: readonly unknown[] = [body].flat();
  const calls = given.filter((message) => isTool(nameOfCall(message))).length;
  admit(given.length === 0 ? 1 : given.length - calls);
  const refusedWithCalls = (message: string) => {
    admit(calls);
    return refused(ErrorCode.InvalidRequest, `Invalid Request: ${message}`);
  };
  const parsed = given.map((message) => JSONRPCMessageSchema.safeParse(message));
  const messages = parsed.flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (messages.length === 0 || messages.length < parsed.length) {
    return refusedWithCalls('this is not a JSON-RPC 2.0 message');
  }
  // Answered by itself, the rest of its batch would be done without an answer, and done again by its client.
  if (batch && messages.some((message) => isRequest(message) && message.method === 'initialize')) {
    return refusedWithCalls('initialize must come by itself');
  }
  const ids = messages.flatMap((message) => idsOf(message));
  if (new Set(ids).size < ids.length) {
    return refusedWithCalls('two messages have the same id');
  }
  // A notification beside requests says nothing to a server without state; one of them, `cancelled`, would
  // leave its request without an answer.
  const read = ids.length === 0 ? messages : messages.filter(isRequest).map(withoutTask);
  return { messages: read, batch, calls };
}

/** A request without its `task`, which a server without tasks has to ignore (MCP 2025-11-25, Tasks). */
function withoutTask(request: JSONRPCRequest): JSONRPCRequest {
  if (request.params === undefined) return request;
  const { task: _task, ...params } = request.params;
  return { ...request, params };
}

/** The name of the tool that a message may call, which is counted when the tool is called; undefined where it calls none. */
function nameOfCall(message: unknown): unknown {
  if (!isJsonObject(message) || message.method !== 'tools/call' || !Object.hasOwn(message, 'id'))
    return;
  return isJsonObject(message.params) ? message.params.name : undefined;
}

function refused(code: number, message: string): { readonly error: JsonRpcError } {
  return { error: jsonRpcError(code, message) };
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

function idsOf(message: JSONRPCMessage): (string | number)[] {
  return isRequest(message) ? [message.id] : [];
}

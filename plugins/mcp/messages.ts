import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type JsonRpcError, jsonRpcError } from './json-rpc.ts';

/** What the body of a POST turned out to be. */
export type ReadMessages =
  | { readonly messages: readonly JSONRPCMessage[]; readonly batch: boolean }
  | { readonly error: JsonRpcError };

/** Reads the JSON-RPC messages of a body: one, or several in an array. */
export function readMessages(text: string): ReadMessages {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refused(ErrorCode.ParseError, 'Parse error: the body is not valid JSON');
  }
  const batch = Array.isArray(body);
  const parsed = [body].flat().map((message) => JSONRPCMessageSchema.safeParse(message));
  const messages = parsed.flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (messages.length === 0 || messages.length < parsed.length) {
    return refused(ErrorCode.InvalidRequest, 'Invalid Request: this is not a JSON-RPC 2.0 message');
  }
  const ids = messages.flatMap((message) => idsOf(message));
  if (new Set(ids).size < ids.length) {
    return refused(ErrorCode.InvalidRequest, 'Invalid Request: two messages have the same id');
  }
  // A notification beside requests says nothing to a server without state; one of them, `cancelled`, would
  // leave its request without an answer.
  return { messages: ids.length === 0 ? messages : messages.filter(isRequest), batch };
}

/** How many of them call a tool. */
export function toolCallsIn(messages: readonly JSONRPCMessage[]): number {
  return messages.filter((message) => isRequest(message) && message.method === 'tools/call').length;
}

function refused(code: number, message: string): { readonly error: JsonRpcError } {
  return { error: jsonRpcError(code, message) };
}

function isRequest(
  message: JSONRPCMessage,
): message is JSONRPCMessage & { id: string | number; method: string } {
  return 'method' in message && 'id' in message;
}

function idsOf(message: JSONRPCMessage): (string | number)[] {
  return isRequest(message) ? [message.id] : [];
}

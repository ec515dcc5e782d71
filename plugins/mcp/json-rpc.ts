/** An error that answers no message in particular. */
export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly error: { readonly code: number; readonly message: string };
  readonly id: null;
}

/** An error as JSON-RPC says it. */
export function jsonRpcError(code: number, message: string): JsonRpcError {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

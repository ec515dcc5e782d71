/** An error as JSON-RPC says it. */
export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly error: { readonly code: number; readonly message: string };
  /** Null where it answers no message in particular. */
  readonly id: string | number | null;
}

/** JSON-RPC's range for what a server defines: the HTTP request itself is refused. */
export const httpRefused = -32_000;

/** Makes an error. */
export function jsonRpcError(
  code: number,
  message: string,
  id: string | number | null = null,
): JsonRpcError {
  return { jsonrpc: '2.0', error: { code, message }, id };
}

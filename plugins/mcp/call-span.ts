import { type Span, SpanKind } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import { isJsonObject } from '../../core/json-object.ts';
import { contextOf, startSpan, traceparentOf } from '../../core/spans.ts';

/**
 * Begins the span of a tool call (OpenTelemetry, semantic conventions for MCP). Its parent is the one that the call
 * itself names in `_meta` (MCP, SEP-414), as one HTTP request may carry several calls; else that of the HTTP request.
 */
export function startCallSpan(
  tool: string | null,
  meta: unknown,
  { span }: FastifyRequest,
): Span | null {
  const named = isJsonObject(meta) ? contextOf(meta.traceparent, meta.tracestate) : null;
  return startSpan(`tools/call ${tool}`, {
    kind: SpanKind.SERVER,
    parent: named ?? contextOf(traceparentOf(span)),
    attributes: () => ({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool ?? '' }),
    links: named === null || span === null ? [] : [{ context: span.spanContext() }],
  });
}

/** Trace context: one span of a trace, and whether its maker keeps the span. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** 1 where the span is sampled, else 0. */
  readonly traceFlags: number;
}

/** Version, trace, span and flags; a later version may have more behind a dash. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/**
 * Reads a `traceparent` as W3C Trace Context defines it (level 1, section 3.2.2), strictly: null for whatever is
 * malformed, which is to be ignored. Of a later version what this one knows is read. Pure.
 */
export function parseTraceparent(value: unknown): TraceContext | null {
  if (typeof value !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(value) ?? [];
  if (version === undefined || version === 'ff') return null;
  if (version === '00' && more !== undefined) return null;
  if (zeros.test(traceId) || zeros.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** The trace context as a `traceparent` of version 00, 55 characters. Pure. */
export function formatTraceparent({ traceId, spanId, traceFlags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

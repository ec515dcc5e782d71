import type { MetricEntry } from './entry.ts';

/** Metrics of requests, tool calls and long polls. */
export const requestMetrics = {
  gateway_http_requests_total: {
    type: 'counter',
    of: 'process',
    unit: 'requests',
    meaning: 'Requests answered, calls of MCP tools among them.',
    labels: { operation: 'id of the operation, or the pattern of another route', status: 'HTTP' },
  },
  gateway_http_request_duration_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning:
      'Time from a request to the end of its answer; long polls wait by design, and so does `/mcp` where it carries one, which counts a tool call a second time.',
    labels: { operation: 'as above' },
    // The last ones are for long polls.
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  gateway_refusals_total: {
    type: 'counter',
    of: 'process',
    unit: 'requests',
    meaning: 'Requests and tool calls that were refused.',
    labels: { code: '`error_code`: errors.md' },
  },
  gateway_mcp_calls_total: {
    type: 'counter',
    of: 'process',
    unit: 'calls',
    meaning: 'Calls of MCP tools, by the revision of the protocol that the client speaks.',
    labels: { tool: 'id of its operation', era: ['sessions', 'stateless'] },
  },
  gateway_long_polls_open: {
    type: 'gauge',
    of: 'process',
    unit: 'requests',
    meaning: 'Long polls that are open now: waits for messages, and polls for events.',
    labels: { kind: ['messages', 'events'] },
  },
  gateway_waits_handed_over_total: {
    type: 'counter',
    of: 'process',
    unit: 'requests',
    meaning:
      'Waits that were answered from the transaction that stored the message, without a read.',
    labels: {},
  },
} as const satisfies Record<string, MetricEntry>;

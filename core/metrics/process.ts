import type { MetricEntry } from './entry.ts';

const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10];

/** Metrics of a process, its database and its broker. */
export const processMetrics = {
  gateway_build_info: {
    type: 'gauge',
    of: 'process',
    unit: 'always 1',
    meaning: 'What runs: the version of the gateway and of Node.js.',
    labels: { version: 'of package.json', node_version: 'of Node.js' },
  },
  gateway_event_loop_stalled_seconds_total: {
    type: 'counter',
    of: 'process',
    unit: 'seconds',
    meaning: 'Time that the event loop stood still, of standstills longer than a second.',
    labels: {},
  },
  gateway_database_up: {
    type: 'gauge',
    of: 'process',
    unit: '0 or 1',
    meaning: 'Whether the database answers reads and takes writes, as requests and probes found.',
    labels: { access: ['read', 'write'] },
  },
  gateway_database_connections: {
    type: 'gauge',
    of: 'process',
    unit: 'connections',
    meaning: 'Open connections of the two pools.',
    labels: { pool: ['read', 'write'], state: ['used', 'free'] },
  },
  gateway_database_connections_max: {
    type: 'gauge',
    of: 'process',
    unit: 'connections',
    meaning: 'How many connections a pool may open.',
    labels: { pool: ['read', 'write'] },
  },
  gateway_database_connections_awaited: {
    type: 'gauge',
    of: 'process',
    unit: 'statements',
    meaning: 'Transactions and reads that wait for a connection.',
    labels: { pool: ['read', 'write'] },
  },
  gateway_lane_batch_inputs: {
    type: 'histogram',
    of: 'process',
    unit: 'inputs',
    meaning: 'Decisions that share one transaction; its count is the number of transactions.',
    labels: { lane: 'name of the lane' },
    buckets: [1, 4, 16, 64, 256],
  },
  gateway_lane_wait_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning: 'How long the first of a batch waited for its transaction to begin.',
    labels: { lane: 'name of the lane' },
    buckets: durations,
  },
  gateway_lane_duration_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning: 'How long a transaction took, repeats after faults included.',
    labels: { lane: 'name of the lane' },
    buckets: durations,
  },
  gateway_broker_up: {
    type: 'gauge',
    of: 'process',
    unit: '0 or 1',
    meaning: 'Whether the broker carries messages both ways; always 1 without RabbitMQ.',
    labels: {},
  },
  gateway_broker_messages_waiting: {
    type: 'gauge',
    of: 'process',
    unit: 'messages',
    meaning: 'Messages in the buffers towards RabbitMQ.',
    labels: {},
  },
  gateway_broker_messages_dropped_total: {
    type: 'counter',
    of: 'process',
    unit: 'messages',
    meaning: 'Messages that a full buffer dropped; sweeps of the database make up for them.',
    labels: { buffer: ['outgoing', 'work', 'incoming'] },
  },
} as const satisfies Record<string, MetricEntry>;

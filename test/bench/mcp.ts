import { join } from 'node:path';
import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { runGateway } from '../harness/gateway.ts';
import { type Bench, type Found, inTurns } from './bench.ts';
import { runLoad } from './load.ts';
import { contactPhone, seedCrowd, testTenant } from './seed.ts';

const accounts = 16;
const contacts = 1_000;
const clients = 32;

/** `send_message` called as a tool. The accounts are without sessions, so that only accepting is measured. */
export const mcp: Bench = {
  name: 'mcp',
  about:
    'tools/call of send_message on SQLite, in the older revisions and in that of 2026-07-28. Floor: the same call through REST, same gateway.',
  async run(run) {
    const gateway = await runGateway(run, { databaseUrl: null });
    const database = `sqlite:${join(gateway.dataDir, 'gateway.db')}`;
    const connections = connect(database, createLog('silent'));
    run.teardown(() => connections.close());
    const write = new Executor(connections.write, connections.dialect);
    const crowd = await seedCrowd(write, await testTenant(write), { accounts, contacts });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': gateway.key,
    };
    const requests = run.count(1_500);
    let sent = 0;
    const nextBody = (): object => {
      sent += 1;
      const account_id = crowd.accounts[sent % accounts];
      const to = { phone: contactPhone((sent * 7) % contacts) };
      return { account_id, to, text: `Your order ${sent} is on its way.` };
    };
    const turn = async (
      path: string,
      status: number,
      wrap: (body: object) => object,
      more: Readonly<Record<string, string>> = {},
    ) => {
      const { rate, p50, p99 } = await runLoad({
        origin: new URL(gateway.baseUrl).origin,
        clients,
        requests,
        status,
        request: () => ({
          path,
          headers: { ...headers, ...more },
          body: JSON.stringify(wrap(nextBody())),
        }),
        // A tool's refusal is a 200 as well.
        onAnswer(text) {
          if (!text.includes('queued')) throw new Error(`not accepted: ${text}`);
        },
      });
      return { rate, p50, p99 } satisfies Found<'rate' | 'p50' | 'p99'>;
    };
    const floor = () => turn('/v1/messages', 202, (body) => body);
    const older = await inTurns(run, () => turn('/mcp', 200, toolCall), floor);
    const newer = await inTurns(run, () => turn('/mcp', 200, statelessCall, stateless), floor);
    return [['older revisions', older] as const, ['2026-07-28', newer] as const].flatMap(
      ([name, turns]) => [
        turns.figure('rate', {
          name: `calls a second, 32 clients, ${name}`,
          unit: '/s',
          goal: { atLeast: 0.5 },
        }),
        turns.figure('p50', { name: `median time, 32 clients, ${name}`, unit: 'ms', goal: null }),
        turns.figure('p99', {
          name: `99th percentile, 32 clients, ${name}`,
          unit: 'ms',
          goal: null,
        }),
      ],
    );
  },
};

function toolCall(body: object): object {
  const params = { name: 'send_message', arguments: { body } };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

const revision = '2026-07-28';
const stateless = {
  'mcp-protocol-version': revision,
  'mcp-method': 'tools/call',
  'mcp-name': 'send_message',
};

function statelessCall(body: object): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'send_message', arguments: { body }, _meta };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

// Measures send_message through the MCP server against the same call through REST, in turns, and prints
// the rates and their ratio: node --import tsx test/bench/mcp-throughput.ts [calls a turn]
import { Pool } from 'undici';
import { runGateway } from '../harness/gateway.ts';
import { pair, phoneNumber } from '../harness/story.ts';

const calls = Number(process.argv[2] ?? 3_000);
const turns = 7;
const clients = 32;
/** The least that the MCP server must reach of REST's rate. */
const floor = 0.5;

const teardowns: (() => Promise<void>)[] = [];
const gateway = await runGateway(
  { teardown: (fn) => void teardowns.unshift(fn) },
  { databaseUrl: null },
);
try {
  const phone = phoneNumber(1);
  await pair(gateway.api, phone);
  // The network does not answer, so that only accepting is measured.
  await gateway.api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
  const body = { to: { phone: phoneNumber(2) }, text: 'hello' };
  const rest = () => turn('/v1/messages', body, 202);
  const mcp = () => turn('/mcp', toolCall(body), 200);
  await rest();
  await mcp();
  const ratios: number[] = [];
  for (let n = 0; n < turns; n += 1) {
    // The first of a pair has the colder caches: they take it in turns.
    const [first, second] = n % 2 === 0 ? [rest, mcp] : [mcp, rest];
    const [a, b] = [await first(), await second()];
    const [restRate, mcpRate] = n % 2 === 0 ? [a, b] : [b, a];
    ratios.push(mcpRate / restRate);
    console.log(
      `REST ${restRate.toFixed(0)}/s  MCP ${mcpRate.toFixed(0)}/s  ratio ${(mcpRate / restRate).toFixed(2)}`,
    );
  }
  const median = ratios.sort((x, y) => x - y)[(turns - 1) / 2] ?? 0;
  console.log(`median ratio ${median.toFixed(2)}, at least ${floor} wanted`);
  process.exitCode = median >= floor ? 0 : 1;
} finally {
  for (const fn of teardowns) await fn();
}

/** Makes all calls of a turn; answers how many there were a second. */
async function turn(path: string, body: object, status: number): Promise<number> {
  const pool = new Pool(new URL(gateway.baseUrl).origin, { connections: clients });
  const text = JSON.stringify(body);
  const headers = {
    'x-api-key': gateway.key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  let left = calls;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left > 0) {
        left -= 1;
        const answer = await pool.request({ method: 'POST', path, headers, body: text });
        const answered = await answer.body.text();
        if (answer.statusCode !== status || !answered.includes('queued')) {
          throw new Error(`${path}: ${answer.statusCode} ${answered}`);
        }
      }
    }),
  );
  const rate = (calls / (performance.now() - startedAt)) * 1000;
  await pool.close();
  return rate;
}

function toolCall(body: object): object {
  const params = { name: 'send_message', arguments: { body } };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

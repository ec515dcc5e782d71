// An agent with the library @ai-sdk/mcp: subscribes to received messages, hears of one, refreshes and leaves. Prints what it
// saw as JSON. Runs in the Node.js of test/mcp-clients, as the library wants a newer one than the gateway.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, mcpUrl, baseUrl, key, phone] = process.argv.slice(2);
const library = join(folder, 'node_modules/@ai-sdk/mcp/dist/index.js');
const { createMCPClient, experimental_createMCPEventWebhook } = await import(
  pathToFileURL(library)
);

const kept = new Map();
const store = {
  get: async (id) => kept.get(id),
  getById: async (id) => [...kept.values()].find((one) => one.id === id),
  set: async (one) => void kept.set(one.key, one),
  update: async (id, patch) => void kept.set(id, { ...kept.get(id), ...patch }),
  delete: async (id) => void kept.delete(id),
};
const statuses = [];
let arrived;
const delivery = new Promise((resolve) => {
  arrived = resolve;
});
const handle = experimental_createMCPEventWebhook({
  store,
  onEvent: ({ event }) => arrived(event),
});
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { url, method, headers } = request;
  const body = Buffer.concat(chunks);
  const answer = await handle(new Request(`http://127.0.0.1${url}`, { method, headers, body }));
  statuses.push(answer.status);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const client = await createMCPClient({
  transport: { type: 'http', url: mcpUrl, headers: { authorization: headers.authorization } },
  experimental_events: { store },
});
const events = client.experimental_events;
const url = `http://127.0.0.1:${server.address().port}/`;
const callback = { mode: 'webhook', url, allowInsecureLocalhost: true };
const subscribed = await events.subscribe({ name: 'message.received', delivery: callback });
await fetch(`${baseUrl}/sandbox/phones/${phone}/inbound`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ from: { phone: '+12025550177', name: 'Ada' }, text: 'wake up' }),
});
const event = await delivery;
const refreshed = await events.refresh({ id: subscribed.id });
await events.unsubscribe({ id: subscribed.id });
console.log(JSON.stringify({ subscribed, event, refreshed, statuses, left: kept.size }));
process.exit(0);

// An agent over MCP: looks which tools there are, and calls those that its model asks for until it is done.
//   KEY=gw_… node examples/agent.mjs "Answer the next message."
//
// The model in this file is a script, so that the example runs without an account anywhere. Put yours in a module that
// exports `decide`, and name it: MODEL=./my-model.mjs. The names, descriptions and JSON Schemas of `tools` are what the
// interfaces of language models take as tools.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/**
 * Decides on the next step, from the task, the tools, and the calls so far with their answers: `{ tool, arguments }` to
 * call a tool, or `{ done }` with what is to be said at the end.
 */
function scripted({ calls }) {
  const last = calls.at(-1);
  if (last?.isError) return { done: `It did not work: ${last.answer}` };
  if (last === undefined) return { tool: 'list_accounts', arguments: {} };
  if (last.tool === 'send_message') return { done: 'I have answered.' };
  // The first line of an answer is its status, the rest is JSON.
  const body = JSON.parse(last.answer.slice(last.answer.indexOf('\n')));
  if (last.tool === 'list_accounts') {
    const connected = body.accounts.some(({ status }) => status === 'connected');
    if (!connected) return { done: 'No account is connected.' };
    // Without a cursor it listens from now on.
    return { tool: 'wait_for_messages', arguments: { timeout_s: 25 } };
  }
  const [message] = body.messages;
  if (message === undefined) {
    const { next_cursor } = body;
    return { tool: 'wait_for_messages', arguments: { cursor: next_cursor, timeout_s: 25 } };
  }
  const text = `Thank you, ${message.contact.name}. We will look into it.`;
  const { account_id, contact } = message;
  const send = { account_id, to: { contact_id: contact.id }, text };
  return { tool: 'send_message', arguments: { body: send } };
}

const { MODEL } = process.env;
const { decide } = MODEL ? await import(pathToFileURL(resolve(MODEL)).href) : { decide: scripted };
const task = process.argv[2] ?? 'Answer the next message.';

const client = new Client({ name: 'example-agent', version: '1.0.0' });
const requestInit = { headers: { 'x-api-key': process.env.KEY ?? '' } };
const url = new URL(process.env.MCP_URL ?? 'http://127.0.0.1:3000/mcp');
await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
const { tools } = await client.listTools();

const calls = [];
for (;;) {
  const step = await decide({ task, instructions: client.getInstructions(), tools, calls });
  if (step.done !== undefined) {
    console.log(step.done);
    break;
  }
  console.log('calls', step.tool, JSON.stringify(step.arguments));
  const { content, isError = false } = await client.callTool({
    name: step.tool,
    arguments: step.arguments,
  });
  const answer = content.find(({ type }) => type === 'text')?.text ?? '';
  calls.push({ ...step, answer, isError });
}
await client.close();

// Runs snippets of docs/mcp.md, each a module with its `client` and its `tools`, calls a tool of each as its library does,
// and prints the answers as JSON. Runs in the Node.js of test/mcp-clients, as some libraries want a newer one than the gateway.
import { pathToFileURL } from 'node:url';

const answers = [];
for (const file of process.argv.slice(2)) {
  const { client, tools } = await import(pathToFileURL(file));
  answers.push(await called(client, tools));
}
console.log(JSON.stringify(answers));
process.exit(0);

async function called(client, tools) {
  // The AI SDK has an object of tools; LangChain has tools that are called by themselves.
  if (!Array.isArray(tools)) return await tools.list_accounts.execute({}, { messages: [] });
  const tool = tools.find(({ name }) => name === 'list_accounts');
  return await (tool.invoke?.({}) ?? client.callTool({ name: tool.name }));
}

// The floor of long polls: a bare Fastify that holds requests in memory until a message comes for all, their time is
// over or their client leaves.
import Fastify, { type FastifyReply } from 'fastify';
import '../settle.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };
const message = {
  type: 'object',
  properties: { id: text, account_id: text, text, created_at: integer },
} as const;
const schema = {
  querystring: { type: 'object', properties: { cursor: text, timeout_s: integer } },
  response: {
    200: {
      type: 'object',
      properties: { messages: { type: 'array', items: message }, next_cursor: text },
    },
  },
} as const;

interface Message {
  readonly id: string;
  readonly account_id: string;
  readonly text: string;
  readonly created_at: number;
}
interface Page {
  readonly messages: readonly Message[];
  readonly next_cursor: string;
}

const held = new Set<(page: Page) => void>();
const app = Fastify({ logger: false });
app.get<{ Querystring: { readonly cursor?: string; readonly timeout_s: number } }>(
  '/v1/messages/wait',
  { schema },
  async (request, reply) => await hold(reply, request.query.timeout_s * 1_000),
);
app.get('/held', () => ({ held: held.size }));
app.post<{ Body: Message }>('/inbound', { schema: { body: message } }, async ({ body }) => {
  for (const answer of held) answer({ messages: [body], next_cursor: '1' });
  return {};
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
console.log('listening');

async function hold(reply: FastifyReply, timeoutMs: number): Promise<Page> {
  return await new Promise((resolve) => {
    const answer = (page: Page): void => {
      clearTimeout(timer);
      held.delete(answer);
      resolve(page);
    };
    const nothing = (): void => answer({ messages: [], next_cursor: '0' });
    const timer = setTimeout(nothing, timeoutMs);
    held.add(answer);
    reply.raw.once('close', nothing);
  });
}

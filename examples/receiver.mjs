// A receiver of webhooks. Start it with WEBHOOK_SECRET=whsec_…, or with both secrets and a comma between them while you
// rotate; PORT, else 8080, is where it listens.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

// An empty secret is one that everybody knows.
const secrets = (process.env.WEBHOOK_SECRET ?? '').split(',').filter((secret) => secret !== '');
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set');
const seen = new Set(); // in earnest: a table with a unique key

function isGenuine(headers, rawBody) {
  const timestamp = headers['x-webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const given = Buffer.from(headers['x-webhook-signature'] ?? '');
  return secrets.some((secret) => {
    const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody);
    const expected = Buffer.from(`v1=${hmac.digest('hex')}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

createServer(async (request, response) => {
  const rawBody = await buffer(request).catch(() => null);
  if (rawBody === null) return; // the request was cut
  if (!isGenuine(request.headers, rawBody)) {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(204).end();
  const delivery = request.headers['x-webhook-delivery'];
  if (seen.has(delivery)) return;
  seen.add(delivery);
  const { event, message, account } = JSON.parse(rawBody);
  console.log(event, message?.text ?? account?.status);
}).listen(process.env.PORT ?? 8080);

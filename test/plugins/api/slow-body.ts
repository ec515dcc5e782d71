import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Posts JSON whose second half takes its time.
 * @param meanwhile runs when the head of the request has long been read
 * @returns the status of the answer
 */
export async function postSlowly(
  url: string,
  key: string,
  text: string,
  meanwhile: () => void,
): Promise<number | undefined> {
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': String(text.length),
    'x-api-key': key,
  };
  const request = httpRequest(url, { method: 'POST', headers });
  request.write(text.slice(0, 5));
  await sleep(300);
  meanwhile();
  request.end(text.slice(5));
  const [response]: IncomingMessage[] = await once(request, 'response');
  response?.resume();
  return response?.statusCode;
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './processes.ts';

/** A span as an SDK has exported it. */
export interface CollectedSpan {
  /** `service.name` of the process. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** As it came, with its attributes. */
  readonly json: string;
}

/** What an export request carries (OTLP over HTTP as JSON), as far as tests look into it. */
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'json'>[] }[];
  }[];
}

/** A collector of spans on loopback, which ends with the test. */
export async function startSpanCollector(
  t: Teardown,
): Promise<{ readonly url: string; readonly spans: readonly CollectedSpan[] }> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { resourceSpans }: ExportRequest = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    for (const { resource, scopeSpans } of resourceSpans) {
      const name = resource.attributes.find(({ key }) => key === 'service.name');
      const service = name?.value.stringValue ?? '';
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, service, json: JSON.stringify(span) });
      }
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on an address and a port, so it is one.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans };
}

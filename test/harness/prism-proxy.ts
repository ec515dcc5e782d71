import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedClients } from './installed-clients.ts';
import { freePort } from './ports.ts';
import { startProgram, type Teardown } from './processes.ts';

/**
 * Starts Prism in front of a gateway: it turns every answer that its reading of the OpenAPI document does not allow
 * into an error of its own. Requests pass unchecked, so that wrong ones meet the gateway's refusals.
 * @returns the base URL to call in place of the gateway's
 */
export async function prismProxy(t: Teardown, baseUrl: string): Promise<string> {
  const [folder, clients, document] = await Promise.all([
    mkdtemp(join(tmpdir(), 'prism-')),
    installedClients('openapi-clients'),
    fetch(`${baseUrl}/docs/openapi.yaml`).then((answer) => answer.text()),
  ]);
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'openapi.yaml');
  await writeFile(file, document);
  const port = await freePort();
  const program = join(clients, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const prism = startProgram(
    t,
    [
      ...['env', '-u', 'NODE_OPTIONS', process.execPath, program, 'proxy', file, baseUrl],
      ...['--errors', '--validate-request=false', '--port', String(port)],
    ],
    env,
  );
  await prism.waitFor(/Prism is listening/, 60_000);
  return `http://127.0.0.1:${port}`;
}

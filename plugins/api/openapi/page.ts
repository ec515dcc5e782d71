import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The page may load from its own host only, and nothing may put it into a frame. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The reference brings its style with its script.
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230a7' d='M2 2h12v9H7l-4 3v-3H2z'/%3E%3C/svg%3E";

/** The page at `/v1/docs`. Its addresses are relative, so that it also works below another path. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Messaging gateway</title>
    <link rel="icon" href="${icon}">
  </head>
  <body>
    <noscript>The same as text: <a href="docs/openapi.yaml">openapi.yaml</a>, <a href="../llms-full.txt">llms-full.txt</a>.</noscript>
    <div id="docs"></div>
    <script src="docs/assets/tab.js"></script>
    <script src="docs/assets/reference.js"></script>
    <script src="docs/assets/start.js"></script>
  </body>
</html>
`;

/** Runs before the reference, which keeps the key for good: so it is kept as long as the tab. */
const tab = `Object.defineProperty(window, 'localStorage', { value: window.sessionStorage });
`;

/** Starts the reference. What it would load from, or send to, its maker's hosts is off. */
const start = `window.Scalar?.createApiReference('#docs', {
  url: 'docs/openapi.json',
  persistAuth: true,
  authentication: { preferredSecurityScheme: 'ApiKey' },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenFirstTag: false,
  hiddenClients: true,
  hideModels: true,
  documentDownloadType: 'direct',
  externalUrls: { proxyUrl: '', registryUrl: '', dashboardUrl: '', apiBaseUrl: '' },
});
`;

/** One file that the page loads. */
export interface Asset {
  readonly type: string;
  read(): Promise<Buffer | string>;
}

const root = join(import.meta.dirname, '../../..');
const packaged = 'node_modules/@scalar/api-reference/dist/browser/standalone.js';

/** The reference, a development package: beside the sources in its folder, and copied when the program was compiled. */
async function reference(): Promise<Buffer> {
  return await readFile(join(root, 'reference.js')).catch(() => readFile(join(root, packaged)));
}

const script = 'text/javascript; charset=utf-8';

/** The files that the page loads, by name; nothing else of the package is served. */
export const assets: Readonly<Record<string, Asset>> = {
  'reference.js': { type: script, read: reference },
  'tab.js': { type: script, read: async () => tab },
  'start.js': { type: script, read: async () => start },
};

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The page may load from its own host only, and nothing may put it into a frame. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets styles on its elements and draws its icons as data.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page at `/v1/docs`. Its addresses are relative, so that it also works below another path. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Messaging gateway</title>
    <link rel="icon" type="image/png" sizes="32x32" href="docs/assets/favicon-32x32.png">
    <link rel="stylesheet" href="docs/assets/swagger-ui.css">
  </head>
  <body>
    <noscript>The description itself is at <a href="docs/openapi.yaml">openapi.yaml</a>.</noscript>
    <div id="docs"></div>
    <script src="docs/assets/swagger-ui-bundle.js"></script>
    <script src="docs/assets/start.js"></script>
  </body>
</html>
`;

/** Starts Swagger UI. Its validator is off: it would send the description to another host. */
const start = `window.SwaggerUIBundle({
  url: 'docs/openapi.yaml',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
});
`;

/** One file that the page loads. */
export interface Asset {
  readonly type: string;
  read(): Promise<Buffer | string>;
}

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

function packaged(name: string, type: string): Asset {
  return { type, read: () => readFile(join(folder, name)) };
}

/** The files that the page loads, by name; nothing else of the package is served. */
export const assets: Readonly<Record<string, Asset>> = {
  'swagger-ui.css': packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  'favicon-32x32.png': packaged('favicon-32x32.png', 'image/png'),
  'start.js': { type: 'text/javascript; charset=utf-8', read: async () => start },
};

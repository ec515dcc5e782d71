import { createHash } from 'node:crypto';
import { type ConsoleFiles, libraries } from './files.ts';

/** The console's page, and the headers that it is served with. */
export interface ConsolePage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230a7' d='M2 2h12v9H7l-4 3v-3H2z'/%3E%3C/svg%3E";

/**
 * Makes the page. Its addresses are relative, so that it also works below a proxy's path. The import map is allowed by
 * its hash: browsers take none from a file of its own.
 * @param mediaOrigins where received files may come from besides the origin of the page
 */
export function consolePage(
  { version, files }: ConsoleFiles,
  mediaOrigins: readonly string[],
): ConsolePage {
  const folder = `console/assets/${version}`;
  const imports = Object.entries(libraries).map(([name, file]) => [name, `./${folder}/${file}`]);
  const map = JSON.stringify({ imports: Object.fromEntries(imports) });
  const scripts = [...files.keys()].filter((name) => /\.m?js$/.test(name));
  const preloads = scripts.map((name) => `<link rel="modulepreload" href="${folder}/${name}">`);
  const room = `${folder}/plugins/console/web`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Messaging gateway</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${room}/console.css">
<script type="importmap">${map}</script>
${preloads.join('\n')}
<script type="module" src="${room}/main.js"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. <a href="v1/docs/openapi.yaml">The API</a> needs none.</noscript>
</body>
</html>
`;
  const media = ["'self'", ...mediaOrigins].join(' ');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(map).digest('base64')}'`,
    "style-src 'self'",
    `img-src ${media} data:`,
    `media-src ${media}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    html,
    headers: {
      'content-security-policy': policy.join('; '),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'cache-control': 'no-cache',
      etag: `"${version}"`,
    },
  };
}

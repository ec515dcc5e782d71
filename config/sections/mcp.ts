import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** The MCP server. */
export const McpSettings = Closed({
  allowed_origins: Type.Array(
    Type.String({
      pattern: '^[a-z][a-z0-9+.-]*://[^/\\s]+$',
      'x-expected': 'an origin, such as `https://app.example.com`',
    }),
    {
      description: 'values of `Origin` that may call it, besides none and that of `public_url`',
      default: [],
      maxItems: 100,
    },
  ),
});

import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';
import { Count } from './fields.ts';

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
  max_event_subscriptions: Count('subscriptions to MCP Events of one key', 50),
  event_retry_delays_s: Type.Array(Type.Number({ minimum: 0 }), {
    description: 'pauses before the retries of a failed delivery of MCP Events',
    default: [15, 60, 180, 480],
    maxItems: 20,
    'x-unit': 's',
  }),
});

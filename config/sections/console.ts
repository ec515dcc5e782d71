import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

/** The web page for people. */
export const ConsoleSettings = Closed({
  enabled: Type.Boolean({
    description: 'serves a web page at `/console` for whoever holds a key',
    default: true,
    'x-env': 'CONSOLE_ENABLED',
  }),
  media_origins: Type.Array(
    Type.String({
      pattern: '^https?://[^/\\s]+$',
      'x-expected': 'an origin, such as `https://bucket.example.com`',
    }),
    {
      description: 'other origins that received files may be shown from, as of a bucket',
      default: [],
      maxItems: 10,
    },
  ),
});

import { Type } from 'typebox';
import { Closed } from '../../core/schemas.ts';

function Pause(description: string, value: number) {
  return Type.Integer({
    description,
    default: value,
    minimum: 0,
    maximum: 600_000,
    'x-unit': 'ms',
  });
}

/** Pauses between the messages that one account sends. */
export const PacingSettings = Closed({
  min_ms: Pause(
    'shortest pause between two messages of one account; test tenants have none; with `max_ms` 0: as fast as the network takes them',
    300,
  ),
  max_ms: Pause('longest pause; each is drawn evenly between the two', 900),
});

import type { components } from '../../../client/generated/schema.ts';
import { texts } from './texts.ts';
import { shortTime } from './times.ts';
import { Badge } from './ui.tsx';

type Listed = components['schemas']['ListedWebhook'];

/** How deliveries to an address go, in a word; since when they are paused, where the answer has it. */
export function Health(props: {
  enabled: boolean;
  health: Listed['health'] & { readonly disabled_at?: string | null };
}) {
  const { enabled, health } = props;
  const { off, paused, pausedSince, failing, healthy } = texts.webhooks;
  if (!enabled) return <Badge tone="plain">{off}</Badge>;
  if (health.is_disabled) {
    const since = health.disabled_at ?? null;
    return <Badge tone="bad">{since === null ? paused : pausedSince(shortTime(since))}</Badge>;
  }
  if (health.consecutive_failures > 0) {
    return <Badge tone="wait">{failing(health.consecutive_failures)}</Badge>;
  }
  return <Badge tone="good">{healthy}</Badge>;
}

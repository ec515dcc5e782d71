import type { components } from '../../../client/generated/schema.ts';
import { texts } from './texts.ts';
import { Badge } from './ui.tsx';

type Listed = components['schemas']['ListedWebhook'];

/** How deliveries to an address go, in a word. */
export function Health({ webhook }: { webhook: Pick<Listed, 'enabled' | 'health'> }) {
  const { enabled, health } = webhook;
  if (!enabled) return <Badge tone="plain">{texts.webhooks.off}</Badge>;
  if (health.is_disabled) return <Badge tone="bad">{texts.webhooks.paused}</Badge>;
  if (health.consecutive_failures > 0) {
    return <Badge tone="wait">{texts.webhooks.failing(health.consecutive_failures)}</Badge>;
  }
  return <Badge tone="good">{texts.webhooks.healthy}</Badge>;
}

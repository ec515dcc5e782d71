import { useState } from 'preact/hooks';
import { Copy } from './copy.tsx';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { shortTime } from './times.ts';
import { Button, Problem, useTask } from './ui.tsx';

/** Makes a link for whoever holds the phone, where that is somebody else. */
export function ShareLink(props: { session: Session; channel: string; identifier: string }) {
  const { session, channel, identifier } = props;
  const [made, setMade] = useState<{ url: string; expires_at: string } | null>(null);
  const task = useTask();
  const make = () =>
    task.run(async () => {
      const path = { channel, identifier };
      setMade(await session.client.call('create_connection_link', { path }));
    });
  return (
    <div class="share">
      <Problem error={task.error} />
      {made !== null && (
        <>
          <Copy value={made.url} label={texts.link.copy} />
          <p class="quiet">
            {texts.link.hint} {texts.link.until(shortTime(made.expires_at))}
          </p>
        </>
      )}
      <Button tone="link" onClick={make} isBusy={task.isBusy}>
        {made === null ? texts.link.make : texts.link.makeAnother}
      </Button>
    </div>
  );
}

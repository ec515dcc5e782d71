import { useEffect, useMemo, useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { isRefusal } from '../../../client/refusal.ts';
import { useTask } from './forms.tsx';
import { LinkStep } from './link-step.tsx';
import { useLoaded } from './loaded.ts';
import { clientOf } from './session.ts';
import { channelName, texts } from './texts.ts';
import { shortTime } from './times.ts';
import { Button, Page, Problem, Shown } from './ui.tsx';

type Link = components['schemas']['OwnerLink'];

const everyMs = 1_500;

/** What the owner of a phone sees who was sent a link: what to scan or type, and nothing else. */
export function OwnerLink({ token }: { token: string }) {
  const [ended, end] = useState<'link_used' | 'link_not_found' | null>(null);
  return (
    <main id="main" class="owner-link">
      <Page title={texts.link.title}>
        {ended === null ? (
          <Running token={token} end={end} />
        ) : (
          <p class="card" role="status">
            {ended === 'link_used' ? texts.link.used : texts.link.gone}
          </p>
        )}
      </Page>
    </main>
  );
}

function Running(props: { token: string; end: (how: 'link_used' | 'link_not_found') => void }) {
  const { token, end } = props;
  const client = useMemo(() => clientOf('', 0), []);
  const input = { header: { 'x-link-token': token } };
  const loaded = useLoaded(() => client.call('get_link', input), [client, token], everyMs);
  const task = useTask();
  useEffect(() => {
    for (const error of [loaded.error, task.error]) {
      // No header can carry it.
      if (error instanceof TypeError) end('link_not_found');
      if (!isRefusal(error)) continue;
      if (error.code === 'link_used' || error.code === 'link_not_found') end(error.code);
    }
  }, [loaded.error, task.error, end]);
  const start = (method: string) =>
    task.run(async () => {
      const next = await client.call('restart_link', { ...input, body: { link_method: method } });
      loaded.replace(() => next);
    });
  return (
    <div class="card linking" aria-live="polite">
      <Shown loaded={loaded}>
        {(link) => (
          <>
            <p>
              <Wish link={link} />
            </p>
            <p>{texts.link.allows}</p>
            <Way link={link} start={start} isBusy={task.isBusy} />
            <Problem error={task.error} />
            <p class="quiet">
              {texts.link.until(shortTime(link.expires_at))}{' '}
              {texts.link.restarts(link.restarts_left)}
            </p>
          </>
        )}
      </Shown>
    </div>
  );
}

function Wish({ link }: { link: Link }) {
  return (
    <>
      <bdi>
        <strong>{link.tenant_name}</strong>
      </bdi>{' '}
      {texts.link.wish(channelName(link.channel), link.last_digits)}
    </>
  );
}

/** The step of now, and the other ways. On a phone the code to type comes first: nobody scans their own screen. */
function Way(props: { link: Link; start: (method: string) => void; isBusy: boolean }) {
  const { link, start, isBusy } = props;
  const { step, link_method: method, link_methods: methods } = link;
  const isOnPhone = matchMedia('(pointer: coarse)').matches;
  const isOver = step?.type === 'expired' || link.status !== 'connecting';
  const ways = link.restarts_left === 0 ? [] : methods.filter((way) => isOver || way !== method);
  const typedFirst = isOnPhone && method === 'qr' && ways.includes('pairing_code');
  const [why, whatHelps] = texts.link.reasons[link.reason ?? ''] ?? texts.link.failed;
  const buttons = (
    <div class="actions start">
      {ways.map((way) => (
        <Button
          key={way}
          onClick={() => start(way)}
          isBusy={isBusy}
          {...(way === 'pairing_code' && typedFirst ? { tone: 'main' } : {})}
        >
          {texts.link.ways[way] ?? way}
        </Button>
      ))}
    </div>
  );
  const shown =
    step === null || isOver ? (
      <p class="quiet">
        {link.reason === null ? (isOver ? texts.link.over : texts.connect.waiting) : why}
        {ways.length > 0 && whatHelps !== undefined && ` ${whatHelps}`}
      </p>
    ) : step.type === 'ask' ? (
      <p>{texts.link.ask}</p>
    ) : (
      <LinkStep step={step} channel={link.channel} />
    );
  return typedFirst ? (
    <>
      {buttons}
      {shown}
    </>
  ) : (
    <>
      {shown}
      {buttons}
    </>
  );
}

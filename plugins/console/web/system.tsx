import { useEffect, useState } from 'preact/hooks';
import { Unreachable } from '../../../client/refusal.ts';
import type { PageProps } from './app.tsx';
import { useLoaded } from './loaded.ts';
import { texts } from './texts.ts';
import { Badge, Ever, Fact, Page, Problem, Shown } from './ui.tsx';

/** No event tells what changes here. */
const everyMs = 10_000;

/** Whose key this is, what it may do, and which gateway answers. */
export function System({ session }: PageProps) {
  const loaded = useLoaded(() => session.client.call('get_me'), [session], everyMs);
  const me = loaded.value ?? session.me;
  const { tenant, key } = me;
  return (
    <Page title={texts.menu.system}>
      <Problem error={loaded.error} lost={texts.away} />
      <div class="card">
        <dl class="facts">
          <Fact name={texts.system.tenant}>
            <bdi>{tenant.name}</bdi> <code>{tenant.id}</code>
          </Fact>
          <Fact name={texts.system.mode}>
            {tenant.mode === 'test' ? texts.testMode : texts.liveMode}
          </Fact>
          <Fact name={texts.system.plan}>{tenant.plan}</Fact>
          <Fact name={texts.system.status}>{tenant.status}</Fact>
          <Fact name={texts.system.key}>
            {key.name !== null && <bdi>{key.name}</bdi>} <code>{key.id}</code>
          </Fact>
          <Fact name={texts.system.scopes}>{key.scopes?.join(', ') ?? texts.system.all}</Fact>
          <Fact name={texts.system.accounts}>
            {key.account_ids?.join(', ') ?? texts.system.all}
          </Fact>
          <Fact name={texts.system.expires}>
            <Ever at={key.expires_at} />
          </Fact>
          <Fact name={texts.system.features}>{me.features.join(', ')}</Fact>
          <Fact name={texts.system.version}>{me.version}</Fact>
        </dl>
      </div>
      <Parts />
    </Page>
  );
}

/** What the gateway needs, and whether it is there, where its probe is beside the page. */
function Parts() {
  const [hasProbe, setProbe] = useState(true);
  const loaded = useLoaded(readChecks, [], hasProbe ? everyMs : null);
  const isNone = loaded.value?.length === 0;
  useEffect(() => setProbe(!isNone), [isNone]);
  if (isNone) return null;
  return (
    <div class="card">
      <h2>{texts.system.parts}</h2>
      <Shown loaded={loaded}>
        {(checks) => (
          <dl class="facts">
            {checks.map(([name, state]) => (
              <Fact key={name} name={texts.system.checks[name] ?? name}>
                <Badge tone={state === 'ok' ? 'good' : 'bad'}>
                  {state === 'ok' ? texts.system.there : texts.system.away}
                </Badge>
              </Fact>
            ))}
          </dl>
        )}
      </Shown>
    </div>
  );
}

/**
 * Reads the gateway's probe, which asks for no key. Nothing where it has a port of its own, or something else answers.
 * @throws Unreachable
 */
async function readChecks(): Promise<readonly (readonly [string, string])[]> {
  const asking = fetch(new URL('readyz', document.baseURI));
  const answer = await asking.catch((error: unknown) => Promise.reject(new Unreachable(error)));
  if (answer.status !== 200 && answer.status !== 503) return [];
  // Its only form; anything else has no such field.
  const { checks = {} } = (await answer.json().catch(() => ({}))) as {
    readonly checks?: Readonly<Record<string, string>>;
  };
  return Object.entries(checks);
}

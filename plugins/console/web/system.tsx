import { Unreachable } from '../../../client/refusal.ts';
import type { PageProps } from './app.tsx';
import { useLoaded } from './loaded.ts';
import { texts } from './texts.ts';
import { Badge, Page, Shown, Time } from './ui.tsx';

/** Whose key this is, what it may do, and which gateway answers. */
export function System({ session: { me } }: PageProps) {
  const { tenant, key } = me;
  return (
    <Page title={texts.menu.system}>
      <div class="card">
        <dl class="facts">
          <dt>{texts.system.tenant}</dt>
          <dd>
            <bdi>{tenant.name}</bdi> <code>{tenant.id}</code>
          </dd>
          <dt>{texts.system.mode}</dt>
          <dd>{tenant.mode === 'test' ? texts.testMode : texts.liveMode}</dd>
          <dt>{texts.system.plan}</dt>
          <dd>{tenant.plan}</dd>
          <dt>{texts.system.status}</dt>
          <dd>{tenant.status}</dd>
          <dt>{texts.system.key}</dt>
          <dd>
            {key.name !== null && <bdi>{key.name}</bdi>} <code>{key.id}</code>
          </dd>
          <dt>{texts.system.scopes}</dt>
          <dd>{key.scopes?.join(', ') ?? texts.system.all}</dd>
          <dt>{texts.system.accounts}</dt>
          <dd>{key.account_ids?.join(', ') ?? texts.system.all}</dd>
          <dt>{texts.system.expires}</dt>
          <dd>{key.expires_at === null ? texts.system.never : <Time at={key.expires_at} />}</dd>
          <dt>{texts.system.features}</dt>
          <dd>{me.features.join(', ')}</dd>
          <dt>{texts.system.version}</dt>
          <dd>{me.version}</dd>
        </dl>
      </div>
      <Parts />
    </Page>
  );
}

/** What the gateway needs, and whether it is there, where its probe is beside the page. */
function Parts() {
  const loaded = useLoaded(readChecks, []);
  if (loaded.value?.length === 0) return null;
  return (
    <div class="card">
      <h2>{texts.system.parts}</h2>
      <Shown loaded={loaded}>
        {(checks) => (
          <dl class="facts">
            {checks.map(([name, state]) => [
              <dt key={name}>{texts.system.checks[name] ?? name}</dt>,
              <dd key={`${name} state`}>
                <Badge tone={state === 'ok' ? 'good' : 'bad'}>
                  {state === 'ok' ? texts.system.there : texts.system.away}
                </Badge>
              </dd>,
            ])}
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

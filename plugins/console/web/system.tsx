import type { PageProps } from './app.tsx';
import { texts } from './texts.ts';
import { Page, Time } from './ui.tsx';

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
    </Page>
  );
}

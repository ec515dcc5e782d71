import { open } from './router.ts';
import type { Account } from './session.ts';
import { channelName, texts } from './texts.ts';
import { Badge, Button, LimitBars, Time, type Tone } from './ui.tsx';

const tones: Readonly<Record<Account['status'], Tone>> = {
  connected: 'good',
  connecting: 'wait',
  restricted: 'bad',
  disconnected: 'bad',
};

/** One number: its state with the reason in words, what it sent today against its caps, and the ways out. */
export function AccountCard(props: { account: Account; onRemove: (id: string) => void }) {
  const { account } = props;
  const { status } = account;
  const blockedUntil = account.new_contacts_blocked_until;
  return (
    <li class={`card account ${status}`}>
      <div class="card-head">
        <div>
          <h2>
            <bdi>{account.identifier}</bdi>
          </h2>
          <p class="quiet">
            {channelName(account.channel)} · {texts.accounts.since}{' '}
            <Time at={account.status_since} />
            {account.ramp_day !== null && ` · ${texts.accounts.rampDay(account.ramp_day)}`}
          </p>
        </div>
        <Badge tone={tones[status]}>{texts.accounts.statuses[status]}</Badge>
      </div>
      {status !== 'connected' && <p>{account.status_detail ?? texts.accounts.sentences[status]}</p>}
      {blockedUntil !== null && (
        <p>
          {texts.accounts.newContactsBlocked} <Time at={blockedUntil} />
        </p>
      )}
      <div class="card-foot">
        <div class="bars">
          <LimitBars limits={account.limits} />
        </div>
        <div class="actions">
          {(status === 'disconnected' || status === 'connecting') && (
            <Button onClick={() => open('connect', account.channel, account.identifier)}>
              {status === 'connecting' ? texts.accounts.goOn : texts.accounts.again}
            </Button>
          )}
          <Button onClick={() => props.onRemove(account.id)}>
            {status === 'disconnected' ? texts.accounts.remove : texts.accounts.disconnect}
          </Button>
        </div>
      </div>
    </li>
  );
}

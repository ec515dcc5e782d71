import t from 'tap';
import type { LinkStep } from '../../../core/contracts/driver.ts';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import {
  chatappStatus,
  connectionStatus,
  msgappStatus,
} from '../../../plugins/accounts/connection-status.ts';
import type { AccountState } from '../../../plugins/accounts/contract.ts';

t.test('names of connection statuses', async (t) => {
  const gone = { ...unconnected, everConnected: true, announced: true };
  const abandoned = { ...unconnected, reason: 'pairing_abandoned' } as const;
  const on = { ...unconnected, linked: true, announced: true, everConnected: true };
  const pairing: AccountState = { ...unconnected, status: 'connecting' };
  const qr: LinkStep = { type: 'show_qr', data: 'x', token: 'y', expiresAt: 1 };
  const rows: [AccountState, boolean, LinkStep | null, string, string][] = [
    [unconnected, false, null, 'not_initialized', 'not_initialized'],
    [{ ...unconnected, reason: 'login_refused' }, false, null, 'disconnected', 'error'],
    [{ ...unconnected, reason: 'wrong_phone' }, false, null, 'disconnected', 'error'],
    [{ ...gone, reason: 'blocked_by_network' }, false, null, 'disconnected', 'error'],
    [{ ...unconnected, reason: 'conflict' }, false, null, 'disconnected', 'disconnected'],
    [{ ...unconnected, reason: 'pairing_timeout' }, false, null, 'disconnected', 'disconnected'],
    [abandoned, false, null, 'not_initialized', 'not_initialized'],
    [{ ...abandoned, everConnected: true }, false, null, 'not_initialized', 'not_initialized'],
    [{ ...unconnected, reason: 'logged_out' }, false, null, 'disconnected', 'disconnected'],
    [{ ...gone, reason: 'session_lost' }, false, null, 'disconnected', 'disconnected'],
    [{ ...gone, reason: 'replaced' }, false, null, 'disconnected', 'disconnected'],
    [pairing, false, null, 'connecting', 'connecting'],
    [pairing, false, qr, 'connecting', 'qr_required'],
    [pairing, false, { type: 'expired' }, 'connecting', 'connecting'],
    [pairing, false, { type: 'ask', field: 'code' }, 'connecting', 'code_required'],
    [pairing, false, { type: 'ask', field: 'password' }, 'connecting', 'password_required'],
    [{ ...on, status: 'connecting' }, false, null, 'connecting', 'connecting'],
    // Held back: it goes on by itself.
    [{ ...on, status: 'connecting', reason: 'stalled' }, false, null, 'connecting', 'connecting'],
    [{ ...on, status: 'connected' }, true, null, 'connected', 'connected'],
    [{ ...on, status: 'connected' }, false, null, 'connecting', 'connecting'],
    [{ ...on, status: 'restricted' }, false, null, 'restricted', 'restricted'],
  ];
  for (const [state, live, step, msgapp, chatapp] of rows) {
    const name = `${state.status} ${state.reason} ${step?.type}`;
    t.equal(msgappStatus({ state, live, step }), msgapp, `msgapp: ${name}`);
    t.equal(chatappStatus({ state, live, step }), chatapp, `chatapp: ${name}`);
    const other = chatapp === 'error' ? chatapp : msgapp;
    t.equal(connectionStatus({ state, live, step }), other, `any channel: ${name}`);
  }
});

import t from 'tap';
import { type CloseCode, closeCodeOf, endingOf } from '../../../drivers/msgapp_web/close-codes.ts';
import { endingEventOf } from '../../../drivers/msgapp_web/ending-event.ts';

/** Every way in which a connection ends: what a login that is under way makes of it, and a session that was there. */
const endings: readonly (readonly [CloseCode, object, object])[] = [
  ['unknown', lost('network_unreachable'), lost('network_unreachable')],
  ['unreachable', lost('network_unreachable'), lost('network_unreachable')],
  ['untrusted', refused('misconfigured'), lost('misconfigured')],
  [400, lost('network_unreachable'), lost('network_unreachable')],
  [401, refused('login_refused'), loggedOut('logged_out')],
  [402, refused('blocked_by_msgapp'), restricted()],
  [403, refused('blocked_by_msgapp'), restricted()],
  [405, lost('version_refused'), lost('version_refused')],
  [406, refused('blocked_by_msgapp'), restricted()],
  [408, lost('network_unreachable'), lost('network_unreachable')],
  [409, lost('version_refused'), lost('version_refused')],
  [411, refused('login_refused'), loggedOut('logged_out')],
  [419, refused('login_refused'), loggedOut('logged_out')],
  [428, lost('network_unreachable'), lost('network_unreachable')],
  [429, lost('rate_limited'), lost('rate_limited')],
  [440, loggedOut('replaced'), loggedOut('replaced')],
  [500, lost('network_unreachable'), lost('network_unreachable')],
  [503, lost('network_unreachable'), lost('network_unreachable')],
  [599, lost('network_unreachable'), lost('network_unreachable')],
];

function lost(reason: string) {
  return { type: 'lost', reason };
}
function refused(reason: string) {
  return { type: 'refused', reason };
}
function loggedOut(reason: string) {
  return { type: 'logged_out', reason };
}
function restricted() {
  return { type: 'restricted', reason: 'blocked_by_msgapp' };
}

t.test('every end of a connection has a reason, and a sentence that says what to do', async (t) => {
  const expected = ([code, linking, linked]: (typeof endings)[number]) =>
    (
      [
        ['linking', linking],
        ['showing', code === 408 ? { type: 'expired' } : linking],
        ['resuming', linked],
        ['connected', linked],
      ] as const
    ).map(([phase, ending]) => [code, phase, ending] as const);
  for (const [code, phase, ending] of endings.flatMap(expected)) {
    const found = endingOf(code, phase);
    t.match(found, ending, `${code} while ${phase}`);
    if (!('detail' in found)) continue;
    t.match(found.detail, /^[A-Z].+[.:] ?.+\.$/, 'what happened, and what next');
    t.match(endingEventOf(found), { ...ending, type: 'state', state: found.type });
  }
  for (const phase of ['linking', 'resuming'] as const) {
    t.same(endingOf(515, phase), { type: 'restart' });
    t.match(endingOf(405, phase), { detail: /drivers\.msgapp_web\.web_version/ });
  }
});

t.test('a code of the network is told from an error on the way there', async (t) => {
  const told = (message: string, statusCode?: number) =>
    closeCodeOf(Object.assign(new Error(message), statusCode && { output: { statusCode } }));
  t.equal(told('Connection Failure', 401), 401);
  t.equal(told('Stream Errored (conflict)', 440), 440);
  t.equal(told('WebSocket Error (Unexpected server response: 401)', 401), 'unreachable');
  t.equal(told('WebSocket Error (getaddrinfo ENOTFOUND)', 408), 'unreachable');
  t.equal(told('noise certificate signature invalid', 400), 'untrusted');
  t.equal(told('certification match failed', 400), 'untrusted');
  t.equal(told('something else'), 'unknown');
  t.equal(closeCodeOf(undefined), 'unknown');
});

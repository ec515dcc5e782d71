import type {
  BlockedReason,
  Cause,
  EndedReason,
  LostReason,
  RefusedReason,
} from '../../core/contracts/driver.ts';

/** What a connection was for when it ended. */
export type ConnectionPhase =
  | 'linking'
  /** Linking, with a code shown to the user. */
  | 'showing'
  | 'resuming'
  | 'connected';

/** What the end of a connection means for the session. */
export type Ending =
  | ({ readonly type: 'lost' } & Cause<LostReason>)
  | ({ readonly type: 'logged_out' } & Cause<EndedReason>)
  /** The account may send to nobody for now. */
  | ({ readonly type: 'restricted' } & Cause<BlockedReason>)
  | ({ readonly type: 'refused' } & Cause<RefusedReason>)
  /** Codes to link with have run out. */
  | { readonly type: 'expired' }
  /** The network asks for a new connection with the same credentials. */
  | { readonly type: 'restart' };

/** An ending that reaches the session. */
export type LastEnding = Exclude<Ending, { readonly type: 'restart' }>;

/** How a connection closed: the network's own code, or what kept it from giving one. */
export type CloseCode = number | 'unreachable' | 'untrusted' | 'unknown';

/** A loss whose sentence ends with the next step. */
export function lost(what: string, reason: LostReason = 'network_unreachable'): LastEnding {
  return { type: 'lost', reason, detail: `${what} It is tried again by itself.` };
}

const untrusted = {
  reason: 'misconfigured',
  detail:
    'The server is not one that the trusted root key vouches for: check drivers.msgapp_web.websocket_url and root_public_key.',
} as const;

/** Nothing came from the network, or nothing in time. */
export const unanswered = lost('The network did not answer in time.');

const losses: Readonly<Record<number, LastEnding>> = {
  405: versionRefused(),
  408: unanswered,
  409: versionRefused(),
  428: lost('The network closed the connection.'),
  429: lost('The network wants fewer log-ins from this address.', 'rate_limited'),
  500: lost('The network reported an error of its own.'),
  503: lost('The network is not available for now.'),
};

/** The endings of a login, and of a session that was there. */
interface Judgement {
  readonly linking: LastEnding;
  readonly linked: LastEnding;
}

const blocked = 'The network has blocked this account: open its app on the phone to see why';
const block: Judgement = {
  linking: refused('blocked_by_msgapp', `${blocked}, then connect again.`),
  linked: {
    type: 'restricted',
    reason: 'blocked_by_msgapp',
    detail: `${blocked}. The end of the block is noticed by itself.`,
  },
};
const gone: Judgement = {
  linking: refused(
    'login_refused',
    'The network refused to link this device: connect again and use the new code.',
  ),
  linked: loggedOut(
    'logged_out',
    'The device was taken off the list of linked devices: connect the account again.',
  ),
};
const replaced = loggedOut(
  'replaced',
  'Another session took the place of this one: connect again to take it back.',
);

const judgements: Readonly<Record<number, Judgement>> = {
  401: gone,
  402: block,
  403: block,
  406: block,
  411: {
    linking: refused(
      'login_refused',
      'The phone does not support linked devices: update its app, then connect again.',
    ),
    linked: loggedOut(
      'logged_out',
      'The phone no longer supports linked devices: update its app, then connect again.',
    ),
  },
  419: gone,
  440: { linking: replaced, linked: replaced },
};

/** What the end of a connection means. Pure. */
export function endingOf(code: CloseCode, phase: ConnectionPhase): Ending {
  const linking = phase === 'linking' || phase === 'showing';
  if (code === 'unknown') return lost('The connection broke.');
  if (code === 'unreachable') return lost('The network could not be reached.');
  if (code === 'untrusted') return { type: linking ? 'refused' : 'lost', ...untrusted };
  if (code === 515) return { type: 'restart' };
  if (code === 408 && phase === 'showing') return { type: 'expired' };
  const judgement = judgements[code];
  if (judgement !== undefined) return linking ? judgement.linking : judgement.linked;
  return losses[code] ?? lost(`The network ended the connection with code ${code}.`);
}

/** The ending of a link whose pairing code the network refuses. Pure. @param code the error's number in the network's answer */
export function codeRefused(code: number): LastEnding {
  if (code >= 500) return lost('The network made no pairing code.');
  const other = 'link by QR code, or';
  return code === 429
    ? refused('rate_limited', `The network takes no more pairing codes for now: ${other} later.`)
    : refused(
        'login_refused',
        `The network takes no pairing code for this number: ${other} check the number.`,
      );
}

/** Whether a loss may be over in a moment, with nothing changed. Pure. */
export function isPassing(reason: LostReason): boolean {
  return reason === 'network_unreachable' || reason === 'rate_limited';
}

/** How a connection closed, from the error that the library ends it with. Pure. */
export function closeCodeOf(error: unknown): CloseCode {
  if (!(error instanceof Error)) return 'unknown';
  // The library hangs codes of HTTP on errors of the web socket: a proxy's 401 is no answer of the network.
  if (error.message.startsWith('WebSocket Error')) return 'unreachable';
  if (/certificat/.test(error.message)) return 'untrusted';
  if (!('output' in error)) return 'unknown';
  const { output } = error;
  if (typeof output !== 'object' || output === null || !('statusCode' in output)) return 'unknown';
  return typeof output.statusCode === 'number' ? output.statusCode : 'unknown';
}

function versionRefused(): LastEnding {
  return lost(
    "The network no longer takes this version of its web client: set drivers.msgapp_web.web_version to today's.",
    'version_refused',
  );
}

function refused(reason: RefusedReason, detail: string): LastEnding {
  return { type: 'refused', reason, detail };
}

function loggedOut(reason: EndedReason, detail: string): LastEnding {
  return { type: 'logged_out', reason, detail };
}

/** What a connection was for when it ended. */
export type Phase =
  | 'linking'
  /** Linking, with a code shown to the user. */
  | 'showing'
  | 'resuming'
  | 'connected';

/** What the end of a connection means for the session. */
export type Ending =
  | { readonly type: 'lost'; readonly message: string }
  | { readonly type: 'logged_out'; readonly reason: 'logged_out' | 'replaced' }
  /** The account may send to nobody for now. */
  | { readonly type: 'restricted' }
  | { readonly type: 'refused'; readonly message: string }
  /** Codes to link with have run out. */
  | { readonly type: 'expired' }
  /** The network asks for a new connection with the same credentials. */
  | { readonly type: 'restart' };

const untrusted = 'the server is not one that the trusted root key vouches for';

const lostMessages: Readonly<Record<number, string>> = {
  400: untrusted,
  405: 'the network no longer takes this version of the library',
  408: 'the network did not answer in time',
  428: 'the network closed the connection',
  500: 'the network reported an error of its own',
  503: 'the network is not available for now',
};

/**
 * What a close code means. Pure.
 * @param code as the library tells it; undefined when it told none
 */
export function endingOf(code: number | undefined, phase: Phase): Ending {
  const linking = phase === 'linking' || phase === 'showing';
  switch (code) {
    case 408:
      return phase === 'showing' ? { type: 'expired' } : lost(code);
    case 400:
      return linking ? { type: 'refused', message: untrusted } : lost(code);
    case 515:
      return { type: 'restart' };
    case 440:
      return { type: 'logged_out', reason: 'replaced' };
    case 401:
    case 419:
      return linking
        ? { type: 'refused', message: 'the network refused the login' }
        : { type: 'logged_out', reason: 'logged_out' };
    case 402:
    case 403:
    case 406:
      return linking
        ? { type: 'refused', message: 'the network has blocked this account' }
        : { type: 'restricted' };
    case 411:
      return linking
        ? { type: 'refused', message: 'the phone does not support linked devices' }
        : { type: 'logged_out', reason: 'logged_out' };
    default:
      return lost(code);
  }
}

function lost(code: number | undefined): Ending {
  if (code === undefined) return { type: 'lost', message: 'the connection broke' };
  const message = lostMessages[code] ?? `the connection ended with code ${code}`;
  return { type: 'lost', message };
}

/**
 * The contract of the guarded way out: every request to an address that a tenant named goes through it. The guard
 * checks the URL, the addresses of its host, and the address of the socket itself.
 */
import type { Readable } from 'node:stream';

/** Why a request got no answer. */
export type EgressFailureKind = 'timeout' | 'connection' | 'tls' | 'blocked';

/** A request that got no answer. */
export interface EgressFailure {
  readonly kind: EgressFailureKind;
  /** A sentence for the one who named the address. Never names a resolved address. */
  readonly message: string;
}

/** Why requests to a URL are not allowed now. */
export interface EgressRefusal extends EgressFailure {
  /** Present when no name server could tell whether they are: the same URL may be allowed later. */
  readonly mayPass?: true;
}

/** One POST with a body that is ready. */
export interface EgressPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Time limit of the whole request, from resolving the host's name to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * The caller follows with at most one request to the host: it is answered early when another connection is free for
   * that. Default: false.
   */
  readonly hasSuccessor?: boolean;
}

/** An answer, whatever its status. Redirects are answers like any other. */
export interface EgressAnswer {
  readonly status: number;
  /** The first KiB of the body, as text. */
  readonly text: string;
}

/** One GET of a file. Up to three redirects are followed, each through the guard. */
export interface EgressGet {
  readonly url: string;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /**
   * For which nothing may come: neither the head of an answer nor a byte of its body. Time in which the body is not read
   * does not count. Default: no limit.
   */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
}

/** A file on its way in; whoever asked for it reads the body to its end or destroys it. */
export interface EgressFile {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Fails with an `EgressFailure` as its `cause` at the time-out. */
  readonly body: Readable;
}

/** An answer, or why there is none. */
export type EgressOutcome<Answer> =
  | { readonly answered: true; readonly answer: Answer }
  | { readonly answered: false; readonly failure: EgressFailure };

/** The guarded HTTP client. In the container as `egress`. */
export interface Egress {
  /**
   * Whether requests to this URL are allowed now: https, no credentials in it, every address of its host public
   * unicast. Answers null, or the failure that a request would meet: `blocked` is not allowed, any other kind says that
   * the host could not be looked up. Never rejects.
   */
  refusal(url: string): Promise<EgressRefusal | null>;
  /**
   * An address of a host, for a connection that somebody else makes: every one of the host must be allowed.
   * Never rejects.
   * @param mayBePrivate also where requests may not go to private networks
   */
  addressOf(host: string, mayBePrivate: boolean): Promise<EgressOutcome<string>>;
  /** Never rejects. */
  post(request: EgressPost): Promise<EgressOutcome<EgressAnswer>>;
  /** Never rejects. */
  get(request: EgressGet): Promise<EgressOutcome<EgressFile>>;
}

/** The client with its end. */
export interface ClosableEgress extends Egress {
  /** Ends every request and connection; requests made afterwards fail. Idempotent. */
  close(): Promise<void>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly egress: Egress;
  }
}

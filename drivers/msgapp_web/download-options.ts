import { Agent, type buildConnector, type Dispatcher } from 'undici';

/** How long a download may bring nothing, in milliseconds. */
const usualSilenceMs = 20_000;

/** Options of downloads. */
export interface DownloadOptions {
  /** A file comes as it is read. */
  readonly streamed: RequestInit;
  /**
   * For the library's own downloads, which it holds in memory anyhow: a file comes when all of it has come, else the
   * request fails. The errors of a file that breaks off have no listener there, and would end the process.
   */
  readonly whole: RequestInit;
}

/**
 * Makes options under which a host that falls silent ends the download.
 * @param connect how to connect, where it is not directly
 * @param silenceMs how long the host may send nothing
 */
export function downloadOptions(
  connect?: buildConnector.connector,
  silenceMs = usualSilenceMs,
): DownloadOptions {
  const silence = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const agent = new Agent(connect === undefined ? silence : { ...silence, connect });
  return { streamed: through(agent), whole: through(agent.compose(onlyWhole)) };
}

function through(dispatcher: Dispatcher): RequestInit {
  // Node's own types of `fetch` are of another version of undici.
  return { dispatcher } as unknown as RequestInit;
}

const onlyWhole: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  let begin = (): void => undefined;
  const chunks: Buffer[] = [];
  return dispatch(request, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart(...start) {
      begin = () => handler.onResponseStart?.(...start);
    },
    onResponseData: (_controller, chunk) => void chunks.push(chunk),
    onResponseEnd(controller, trailers) {
      begin();
      for (const chunk of chunks) handler.onResponseData?.(controller, chunk);
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  });
};

import { Agent, type buildConnector, type Dispatcher } from 'undici';

/** How long a download may bring nothing, in milliseconds. */
const usualSilenceMs = 20_000;

/**
 * Options under which no download of the library's own ends the process: the error of an answer that breaks off has no
 * listener there. Such an answer ends early in its place, which decrypting or unpacking it notices; so does one that falls silent.
 * @param connect how to connect, where it is not directly
 * @param silenceMs how long the host may send nothing
 */
export function downloadOptions(
  connect?: buildConnector.connector,
  silenceMs = usualSilenceMs,
): RequestInit {
  const silence = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const agent = new Agent(connect === undefined ? silence : { ...silence, connect });
  // Node's own types of `fetch` are of another version of undici.
  return { dispatcher: agent.compose(endingEarly) } as unknown as RequestInit;
}

const endingEarly: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  let hasBegun = false;
  return dispatch(request, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart(...start) {
      hasBegun = true;
      handler.onResponseStart?.(...start);
    },
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError(controller, error) {
      if (hasBegun) handler.onResponseEnd?.(controller, {});
      else handler.onResponseError?.(controller, error);
    },
  });
};

import { Type } from 'typebox';
import { Closed, Nullable } from '../../core/schemas.ts';

function Option(env: string, description: string, options: object = {}) {
  return Nullable(
    Type.String({ description, default: null, minLength: 1, 'x-env': env, ...options }),
  );
}

/** Options of the drivers that come with the gateway. */
export const DriversSettings = Closed({
  msgapp_web: Closed({
    websocket_url: Option('MSGAPP_WEB_SOCKET_URL', "the network's socket address", {
      pattern: '^wss?://',
      'x-expected': 'a ws:// or wss:// address',
      'x-secret': 'password',
    }),
    root_public_key: Option(
      'MSGAPP_WEB_ROOT_PUBLIC_KEY',
      'trusted root key, base64 of the raw key',
    ),
    web_version: Option('MSGAPP_WEB_VERSION', 'version of the web client to log in as', {
      pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,12}$',
      'x-expected': 'a version such as 2.3000.1023223821',
    }),
  }),
  chatapp: Closed({
    api_id: Nullable(
      Type.Integer({
        description: 'id of the registered application',
        default: null,
        minimum: 1,
        'x-env': 'CHATAPP_API_ID',
      }),
    ),
    api_hash: Option('CHATAPP_API_HASH', 'its secret', { 'x-secret': 'all' }),
    data_center: Option('CHATAPP_DATA_CENTER', 'the server, `host:port`', {
      pattern: '^.+:[0-9]+$',
      'x-expected': 'host:port',
    }),
    server_public_key: Option('CHATAPP_SERVER_PUBLIC_KEY', "PEM of the server's RSA key"),
  }),
});

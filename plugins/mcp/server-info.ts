/** The server as clients show it; its version is that of the tools and of the OpenAPI description. */
export const serverInfo = {
  name: 'messaging-gateway',
  title: 'Messaging gateway',
  version: '1.0.0',
};

/** The version of the gateway, that of package.json. */
export const gatewayVersion = '0.1.0';

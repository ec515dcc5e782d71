/**
 * What a driver package imports: the driver contract, its types and its error, and the texts of messages that are no
 * text. `messaging-gateway/driver`.
 */
export * from '../core/contracts/driver.ts';
export * from '../core/contracts/inbound-text.ts';

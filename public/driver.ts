/**
 * The imports of a driver package: the driver contract, its types and its error, and texts for messages without text.
 * `messaging-gateway/driver`.
 */
export * from '../core/contracts/driver.ts';
export * from '../core/contracts/inbound-text.ts';

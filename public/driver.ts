/**
 * What a driver package imports: the driver contract, its types and its error. `messaging-gateway/driver`.
 */
export * from '../core/contracts/driver.ts';

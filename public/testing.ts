/**
 * What the tests of a driver package import: the suite that exercises every clause of the driver contract, and the
 * port and credentials that run a driver without server or database. `messaging-gateway/testing`; needs tap.
 */
export * from '../test/contract/driver.ts';

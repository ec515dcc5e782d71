/**
 * What a plugin imports: how it is named and booted, how it meets the others in the container, and how it declares
 * operations and refuses. `messaging-gateway/plugin`.
 */
export { type Container, type Cradle, provide, provideSingleton } from '../core/container.ts';
export type { Caller } from '../core/contracts/caller.ts';
export type { Clock } from '../core/contracts/clock.ts';
export type { Json } from '../core/contracts/json.ts';
export { type ErrorCode, type ErrorDetail, GatewayError } from '../core/errors.ts';
export { type GatewayPlugin, gatewayPlugin } from '../core/kernel.ts';
export type { GatewayLog } from '../core/log.ts';
export { type AnyOperation, type Operation, operation } from '../core/operation.ts';
export { Closed, Nullable, OneOf, Timestamp, timestamp } from '../core/schemas.ts';

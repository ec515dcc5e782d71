/**
 * The imports of a plugin package: how it is made from its options, named and booted, the types in the container, how
 * it declares operations and refuses. `messaging-gateway/plugin`. The types are the promise: anything else in the
 * container belongs to the gateway and changes with it.
 */
export { type Static, Type } from 'typebox';
export { type Container, type Cradle, provide, provideSingleton } from '../core/container.ts';
export type { Accounts, AccountView } from '../core/contracts/accounts.ts';
export type { Caller } from '../core/contracts/caller.ts';
export type { Clock } from '../core/contracts/clock.ts';
export type {
  ContactPage,
  ContactQuery,
  Contacts,
  ContactView,
} from '../core/contracts/contacts.ts';
export type {
  EventContext,
  EventHandler,
  EventSubscriptions,
  EventView,
} from '../core/contracts/event-subscriptions.ts';
export type { EventType } from '../core/contracts/events.ts';
export type { JobRun, Schedule } from '../core/contracts/jobs.ts';
export type { Json } from '../core/contracts/json.ts';
export type {
  MessagePage,
  MessageQuery,
  Messages,
  MessageView,
  SendAnswer,
  SendBody,
} from '../core/contracts/messages.ts';
export type { PluginStorage } from '../core/contracts/plugin-storage.ts';
export {
  type Column,
  day,
  hash,
  type Index,
  id,
  integer,
  key,
  nullable,
  one,
  onMysql,
  type SchemaStep,
  sparse,
  type Table,
  text,
  words,
  zero,
} from '../core/contracts/schema.ts';
export { placeholders, type Row, type Sql, SqlTable, type Value } from '../core/contracts/sql.ts';
export type { Lane, Lock, Storage, Tables, Unit } from '../core/contracts/storage.ts';
export {
  type ErrorCode,
  type ErrorDeclaration,
  type ErrorDetail,
  GatewayError,
} from '../core/errors.ts';
export { type GatewayPlugin, gatewayPlugin } from '../core/kernel.ts';
export type { GatewayLog } from '../core/log.ts';
export {
  type AnyOperation,
  type GroupDeclaration,
  type Operation,
  type OperationRequest,
  operation,
} from '../core/operation.ts';
export { type PluginContext, type PluginFactory, pluginFactory } from '../core/plugin-factory.ts';
export { Closed, Nullable, OneOf, Timestamp, timestamp } from '../core/schemas.ts';
export {
  idempotencyKeyHeader,
  QueuedMessage,
  sendErrors,
  sendTarget,
} from '../core/sending.ts';

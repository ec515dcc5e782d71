import type { Scope } from '../../core/scopes.ts';
import type { ListenOptions } from './listen.ts';
import type { TriggerOptions } from './trigger.ts';

/** A command line, understood. */
export type Command =
  | { readonly name: 'serve' | 'help' | 'settings' | 'version' }
  | { readonly name: 'listen'; readonly options: ListenOptions }
  | { readonly name: 'trigger'; readonly json: boolean; readonly options: TriggerOptions }
  | { readonly name: 'doctor'; readonly json: boolean }
  | { readonly name: 'backup' | 'restore'; readonly file: string; readonly json: boolean }
  | ({ readonly json: boolean } & AdministrationCommand);

/** Address and API key of the gateway that a command calls. */
export interface ApiAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** What is done to the database, beside a running gateway. */
export type AdministrationCommand =
  | { readonly name: 'migrate' | 'tenants list' }
  | { readonly name: 'secrets reseal' }
  | { readonly name: 'audit'; readonly tenantId: string | null; readonly limit: number }
  | {
      readonly name: 'tenants create';
      readonly tenant: { name: string; mode: 'live' | 'test'; plan: string; ramp: boolean };
    }
  | {
      readonly name: 'tenants update';
      readonly id: string;
      readonly plan: string | undefined;
      readonly status: 'active' | 'suspended' | undefined;
      readonly enable: readonly string[];
      readonly disable: readonly string[];
    }
  | { readonly name: 'tenants delete'; readonly id: string; readonly isSure: boolean }
  | { readonly name: 'keys list'; readonly tenantId: string }
  | {
      readonly name: 'keys create';
      readonly tenantId: string;
      readonly settings: {
        readonly name: string | null;
        readonly scopes: readonly Scope[] | null;
        readonly accountIds: readonly string[] | null;
        readonly expiresAt: number | null;
        readonly confirmSends: boolean;
      };
    }
  | { readonly name: 'keys revoke'; readonly keyId: string };

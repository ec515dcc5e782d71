/** The command line was not understood. Its message is one sentence. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** What there is to type. */
export const usage = `Usage: npm run gateway -- COMMAND [OPTIONS]

  serve                        run the gateway (what npm start does)
  migrate                      bring the database to this version's tables; makes an
                               embedded one that is not there, as serve does

  tenants create --name NAME --mode test|live --plan PLAN [--ramp]
                               make a tenant and its first key
  tenants list                 list all tenants
  tenants update TENANT_ID [--plan PLAN] [--status active|suspended]
                           [--enable FEATURE]... [--disable FEATURE]...
                               change a tenant; a FEATURE is api, webhooks, a channel
                               such as msgapp_web or chatapp, event:TYPE, or
                               operator_events

  tenants delete TENANT_ID [--yes]
                               say what a tenant has; with --yes its keys are useless from
                               then on, and running gateways erase everything of it

  keys create --tenant TENANT_ID [--name NAME] [--scopes SCOPE,...]
              [--accounts ACCOUNT_ID,...] [--expires TIME] [--confirm-sends]
                               make a further key; it is shown once. A SCOPE is read, send,
                               contacts, connect, webhooks or keys; default: everything.
                               With --confirm-sends a person confirms each message
  keys list --tenant TENANT_ID
                               list a tenant's keys, revoked ones too
  keys revoke KEY_ID           make a key useless

  audit [--tenant TENANT_ID] [--limit N]
                               show who changed what, the newest first; 50 unless N says else

  secrets reseal               seal with GATEWAY_SECRET what GATEWAY_SECRET_PREVIOUS has
                               sealed; repeatable, beside running gateways

  doctor [--json]              look at settings, secret, database, broker, proxies, bucket,
                               clock, files and disk, a sentence each; exits with 1 when
                               something is wrong

  backup FILE                  store everything of an embedded gateway in a tar file, but
                               GATEWAY_SECRET, while the gateway serves
  restore FILE                 make of it the data of a gateway that has none

  listen --forward URL [--types TYPE,...] [--secret whsec_...]
                               follow the events of a gateway and post each to a receiver
                               on this machine, signed as a webhook is
  trigger EVENT [--text TEXT] [--contact PHONE] [--phone PHONE] [--channel CHANNEL]
                               make an event happen on the simulated network, such as
                               message.received; on msgapp_web, unless told otherwise

  settings                     print every setting, with its default, as Markdown
  help                         print this
  version                      print the version, as --version does

Options of every command but serve, listen, settings, help and version:
  --json                       print JSON instead of text
Options of listen and trigger:
  --base-url URL               a gateway, or API_URL; else http://127.0.0.1:3000/v1
  --api-key KEY                or API_KEY

Settings come from the environment and the file named by GATEWAY_CONFIG; the commands
for tenants, keys and secrets work beside a running gateway and take effect within 2 seconds.
Exit codes: 0 done, 1 failed, 2 not understood.
`;

/** Dependencies of the doctor: the parts of plugins that need no gateway around them. */
export { proxiesInUse, type UsedProxy } from '../plugins/accounts/examination.ts';
export { brokerOptions } from '../plugins/broker/address.ts';
export type { ClusterProcess } from '../plugins/cluster/contract.ts';
export { livingProcesses } from '../plugins/cluster/others.ts';
export { type BucketStep, bucketFault } from '../plugins/media/examination.ts';
export { configuredSecrets, opensDatabase } from '../plugins/secrets/examination.ts';
export {
  type DatabaseReport,
  examineDatabase,
  readTables,
  type ServerSettings,
} from '../plugins/storage/examination.ts';
export { serverName, tooOld } from '../plugins/storage/server-version.ts';
export { configuredPlans, unknownPlans } from '../plugins/tenants/plans.ts';

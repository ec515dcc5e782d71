/** Dependencies of backup and restore: the parts of plugins and drivers that need no gateway around them. */
export { networkFolder } from '../drivers/simulated/network/running.ts';
export { settleRestored } from '../plugins/messages/restored.ts';
export { secretFile } from '../plugins/secrets/secret-file.ts';
export { lockDatabase } from '../plugins/storage/database-lock.ts';
export { openingRefusal } from '../plugins/storage/opening.ts';
export { copyDatabase } from '../plugins/storage/snapshot.ts';

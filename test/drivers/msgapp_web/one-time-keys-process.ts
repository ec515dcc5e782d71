import { oneTimeKey } from '../../../drivers/msgapp_web/one-time-key.ts';

/** Makes as many keys as the argument says, and says so. */
const count = Number(process.argv[2]);
for (let made = 0; made < count; made += 1) oneTimeKey();
console.log(`${count} keys`);

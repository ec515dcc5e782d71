/** What a gateway's health is examined with: the parts of plugins that need no gateway around them. */
export { opensDatabase } from '../plugins/secrets/examination.ts';
export { type DatabaseFacts, examineDatabase } from '../plugins/storage/examination.ts';

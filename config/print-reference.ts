import { configReference } from './reference.ts';

/** `npm run configuration > config/README.md`: the page that a test compares with the schema. */
process.stdout.write(`# Configuration

Every setting, in the order of \`schema.ts\`. Values come from the defaults below, then from the JSON file that \`GATEWAY_CONFIG\` names, then from
the environment, which wins; lists and objects are written as JSON. An unknown field or a wrong value stops the start with a sentence that
names it. \`NAME\` stands for the name of a plan or a channel.

${configReference()}`);

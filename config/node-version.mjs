// Imported first by what runs before everything else: ends the process with a sentence where Node.js is too old for the
// gateway. Plain JavaScript that old versions understand.
import { readFileSync } from 'node:fs';

/**
 * The sentence for a Node.js that is too old; null for one that is not.
 * @param {string} wanted `engines.node` of package.json, such as `>=20.19`
 * @param {string} version such as `20.19.0`
 */
function nodeRefusal(wanted, version) {
  const least = wanted.replace('>=', '');
  const [[major, minor = 0], [ownMajor, ownMinor]] = [least, version].map((text) =>
    text.split('.').map(Number),
  );
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return null;
  return `Node.js ${least} or newer is needed, this is ${version}.`;
}

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const refusal = nodeRefusal(engines.node, process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}

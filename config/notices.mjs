// Prints THIRD_PARTY_NOTICES.md from the lock file: `npm run --silent notices > THIRD_PARTY_NOTICES.md`. Plain JavaScript.
import { readFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const { packages } = read('package-lock.json');
const folder = 'node_modules/';

/** Each library as `name version`, by licence. Development packages are in no image. */
const byLicence = new Map();
for (const [path, { name, version, license = 'not named', dev }] of Object.entries(packages)) {
  if (!path.startsWith(folder) || dev) continue;
  const library = `${name ?? path.slice(path.lastIndexOf(folder) + folder.length)} ${version}`;
  byLicence.set(license, (byLicence.get(license) ?? new Set()).add(library));
}
const compare = (one, other) => (one < other ? -1 : 1);
const tables = [...byLicence].sort(([one], [other]) => compare(one, other));
const reference = packages[`${folder}@scalar/api-reference`];

const lines = [
  '# Third-party notices',
  '',
  'The gateway itself is under the MIT licence ([LICENSE](LICENSE)). An installation, and the image that the Dockerfile makes, also contain the libraries below, as `package-lock.json` has them; of',
  'those that are made for one platform, only its own. What a library brings as the text of its licence is in its folder of `node_modules`, in the image as well. The base image brings Node.js and Debian with notices of their own.',
  '',
  'Made by `npm run --silent notices`.',
  '',
  '## Under the GPL',
  '',
  '`libsignal` (GPL-3.0) comes with `baileys`, the library of the channel `msgapp_web`. It is there as its source. An image that contains it may be handed on only as the GPL-3.0 allows.',
  '`npm ci --omit=optional` leaves `baileys` and all that comes with it out, and the channel with it.',
  '',
  '## Compiled in',
  '',
  `\`dist/reference.js\`, the page at \`/v1/docs\`, is \`@scalar/api-reference\` ${reference.version} (${reference.license}): one file, with the libraries that it uses in it.`,
  '',
  '## All libraries, by licence',
  '',
];
for (const [licence, libraries] of tables) {
  lines.push(`### ${licence}`, '', `${[...libraries].sort(compare).join(', ')}.`, '');
}
process.stdout.write(`${lines.join('\n').trimEnd()}\n`);

import t from 'tap';
import { serverName, tooOld } from '../../../plugins/storage/server-version.ts';

t.test('a database server that lacks a statement is too old', (t) => {
  const right = [
    '10.6.0-MariaDB',
    '10.11.6-MariaDB-0+deb12u1',
    '12.1-MariaDB',
    '8.0.17',
    '8.4.0',
    '9',
  ];
  for (const version of right) t.equal(tooOld(version), null, version);
  for (const [version, least] of [
    ['10.5.23-MariaDB', '10.6.0'],
    ['5.5.68-MariaDB', '10.6.0'],
    ['8.0.16-0ubuntu1', '8.0.17'],
    ['5.7.44', '8.0.17'],
  ] as const) {
    const sentence = `${serverName(version)} ${version} is too old: run ${least} or newer.`;
    t.equal(tooOld(version), sentence);
  }
  t.end();
});

/** The oldest MariaDB with `for update skip locked`, and the oldest MySQL with the collation `utf8mb4_0900_bin`. */
const oldest = { MariaDB: '10.6.0', MySQL: '8.0.17' } as const;

/** The product of a database server, `MariaDB` or `MySQL`, from the text of its version. Pure. */
export function serverName(version: string): keyof typeof oldest {
  return /mariadb/i.test(version) ? 'MariaDB' : 'MySQL';
}

/** The sentence for a database server that is too old; null for one that is not. Pure. */
export function tooOld(version: string): string | null {
  const name = serverName(version);
  const least = oldest[name];
  const found = numbers(version);
  const differing = numbers(least).findIndex((number, n) => number !== (found[n] ?? 0));
  if (differing < 0 || (found[differing] ?? 0) > (numbers(least)[differing] ?? 0)) return null;
  return `${name} ${version} is too old: run ${least} or newer.`;
}

function numbers(version: string): number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10) || 0);
}

/** The most characters of a credential's name: what every database holds. */
export const longestCredentialName = 190;

/**
 * Checks the names under which a driver stores credentials; one that is deleted may have any. Pure.
 * @throws TypeError that says how long the first is that is too long, and not what it is: it may name a contact
 */
export function refuseLongNames(values: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || name.length <= longestCredentialName) continue;
    const most = `the driver contract has room for ${longestCredentialName}`;
    throw new TypeError(`the name of a credential has ${name.length} characters: ${most}`);
  }
}

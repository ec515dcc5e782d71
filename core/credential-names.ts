/** The most characters of a credential's name: what every database holds. */
const longestCredentialName = 190;

/**
 * Checks the names under which a driver stores credentials; one that is deleted may have any. Pure.
 * @throws TypeError with the length of a name that is too long; the name itself may be that of a contact
 */
export function refuseLongNames(values: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || name.length <= longestCredentialName) continue;
    const most = `the driver contract has room for ${longestCredentialName}`;
    throw new TypeError(`the name of a credential has ${name.length} characters: ${most}`);
  }
}

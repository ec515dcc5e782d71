/** The key of a thread in a map. */
export function threadPlace(accountId: string, contactId: string): string {
  return `${accountId} ${contactId}`;
}

/** The key of a thread in a map. */
export function threadKey(accountId: string, contactId: string): string {
  return `${accountId} ${contactId}`;
}

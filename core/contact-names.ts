/** Longest phone number that is kept, in characters. */
export const longestPhone = 40;

/** What names a contact on a channel of its tenant. */
interface Named {
  readonly tenantId: string;
  readonly channel: string;
  readonly phone: string | null;
  readonly networkId: string | null;
}

/** The text under which a map has a contact: by its phone or by its network id. Pure. */
export function nameKey(
  { tenantId, channel }: Pick<Named, 'tenantId' | 'channel'>,
  kind: 'phone' | 'networkId',
  name: string,
): string {
  return `${tenantId} ${channel} ${kind} ${name}`;
}

/** All such texts of a contact, its phone's first. Pure. */
export function nameKeys(contact: Named): readonly string[] {
  return (['phone', 'networkId'] as const).flatMap((kind) => {
    const name = contact[kind];
    return name === null ? [] : nameKey(contact, kind, name);
  });
}

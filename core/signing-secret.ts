/** What a secret that somebody else chose may be (Standard Webhooks): `whsec_` and 24 to 64 bytes in standard base64. */
const form = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/;

/** Whether a text can be the signing secret of webhooks. Pure. */
export function isSigningSecret(text: string): boolean {
  const [, base64] = form.exec(text) ?? [];
  const { length } = Buffer.from(base64 ?? '', 'base64');
  return length >= 24 && length <= 64;
}

/** Makes a random id of 128 bits. Pages over plain HTTP have no `crypto.randomUUID`, but this they have. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

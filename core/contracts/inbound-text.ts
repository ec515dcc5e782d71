/**
 * Texts for messages that a person sent on purpose and that are no text: the same line in brackets from every driver.
 * decisions: "Inbound kinds". Pure.
 */

/** Longest part of such a line that is the sender's own. */
const longestPart = 200;
/** Most options of a poll, and most numbers of a contact card, that are named. */
const mostParts = 12;

/** `[location: 52.5200, 13.4050, Alexanderplatz]` */
export function locationText(latitude: number, longitude: number, name: string | null): string {
  const coordinates = [latitude, longitude].map((degrees) => degrees.toFixed(4));
  return bracketed('location', [...coordinates, ...(name ? [name] : [])].map(part).join(', '));
}

/** `[contact: Ada, +49 151 …]`; a card without a name or without a number has the other alone. */
export function contactText(name: string | null, phones: readonly string[]): string {
  const parts = [...(name ? [name] : []), ...phones.slice(0, mostParts)];
  return bracketed('contact', parts.map(part).join(', '));
}

/** `[poll: Lunch? · Pizza · Sushi]` */
export function pollText(question: string, options: readonly string[]): string {
  return bracketed('poll', [question, ...options.slice(0, mostParts)].map(part).join(' · '));
}

/** `[group invite: Chess club]` */
export function groupInviteText(name: string | null): string {
  return bracketed('group invite', part(name ?? ''));
}

/** `[unsupported: payment]`, for everything else that a person sent on purpose. */
export function unsupportedText(what: string): string {
  return bracketed('unsupported', part(what));
}

function bracketed(kind: string, content: string): string {
  return content === '' ? `[${kind}]` : `[${kind}: ${content}]`;
}

/** One line, without brackets of its own. */
function part(text: string): string {
  const line = text.replaceAll(/[[\]\s]+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= longestPart) return line;
  return `${characters.slice(0, longestPart).join('')}…`;
}

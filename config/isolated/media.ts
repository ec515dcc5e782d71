/**
 * What a driver emits, with each medium in it replaced; anything else is given back as it is. Pure.
 * @param change gets what a message, of now or of the past, has as its medium
 */
export function withMedia(event: unknown, change: (media: object) => object): unknown {
  if (typeof event !== 'object' || event === null) return event;
  const { media, messages }: { media?: unknown; messages?: unknown } = event;
  if (typeof media === 'object' && media !== null) return { ...event, media: change(media) };
  if (!Array.isArray(messages)) return event;
  return { ...event, messages: messages.map((message) => withMedia(message, change)) };
}

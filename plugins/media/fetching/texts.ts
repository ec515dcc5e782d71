/** First bytes of a file as a text. */
export interface TextHead {
  readonly text: string;
  /** The bytes show the charset; else it is one of the older ones, which any bytes could be. */
  readonly isCertain: boolean;
}

/** Characters that no text has: all control characters but those that end, indent and feed lines, and escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they tell programs and pictures from texts.
const controls = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/;

const markup = /^\s*<(!doctype|!--|\?xml|html|head|body|script|style|svg|iframe|meta)/i;
/** Comments of a text in Markdown before its first word; the last one may go on after the first bytes. */
const comments = /^\s*(?:<!--.*?(?:-->|$)\s*)*/s;

/** Reads the first bytes of a file as a text; null when they are none. Pure. */
export function readText(head: Uint8Array): TextHead | null {
  const wide = wideText(head);
  if (wide !== null) return { text: wide, isCertain: true };
  if (head.includes(0)) return null;
  const text = decoded(head, 'utf-8');
  if (text !== null) return { text, isCertain: true };
  const older = decoded(head, 'windows-1252');
  return older === null || controls.test(older) ? null : { text: older, isCertain: false };
}

/** Whether the first bytes are a text in UTF-16 that says so. Its mark looks like the start of a sound. Pure. */
export function isWideText(head: Uint8Array): boolean {
  return wideText(head) !== null;
}

/** Whether a text is a web page or a drawing, in which scripts may run. Pure. */
export function isMarkup(text: string, declared: string | null): boolean {
  return markup.test(declared === 'text/markdown' ? text.replace(comments, '') : text);
}

function wideText(head: Uint8Array): string | null {
  const [first, second] = head;
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  if (!isLittle && !isBig) return null;
  const text = decoded(head, isLittle ? 'utf-16le' : 'utf-16be');
  return text === null || controls.test(text) ? null : text;
}

function decoded(head: Uint8Array, charset: string): string | null {
  try {
    // Streaming leaves out a character of which only the first bytes were read.
    return new TextDecoder(charset, { fatal: true }).decode(head, { stream: true });
  } catch {
    return null;
  }
}

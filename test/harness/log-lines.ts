/** How often a gateway has logged each message, by its text. */
export function messagesLogged(output: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of output.split('\n')) {
    if (!line.startsWith('{"level":')) continue;
    const { msg } = JSON.parse(line) as { readonly msg: string };
    counts.set(msg, (counts.get(msg) ?? 0) + 1);
  }
  return counts;
}

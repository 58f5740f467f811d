import further from 'emojibase-data/en/shortcodes/github.json';
import names from 'emojibase-data/en/shortcodes/joypixels.json';

type Names = Readonly<Record<string, string | readonly string[]>>;

/** Every name of an emoji, and the one that it is kept by: `+1` is kept as `thumbsup`. */
const kept = new Map<string, string>();

for (const codes of new Set([...Object.keys(names), ...Object.keys(further)])) {
  const all = [(names as Names)[codes] ?? [], (further as Names)[codes] ?? []].flat();
  for (const name of all) if (!kept.has(name)) kept.set(name, all[0]!);
}

/** The name that an emoji is kept by. Shape: `name` without colons; undefined when no emoji has it. */
export function emojiNamed(name: string): string | undefined {
  return kept.get(name);
}

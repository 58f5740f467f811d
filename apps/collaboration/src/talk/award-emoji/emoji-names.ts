import githubNames from 'emojibase-data/en/shortcodes/github.json';
import joypixelsNames from 'emojibase-data/en/shortcodes/joypixels.json';

type EmojiNames = Readonly<Record<string, string | readonly string[]>>;

/** Canonical name by each name of an emoji: `+1` maps to `thumbsup`. */
const canonicalNames = new Map<string, string>();

for (const codes of new Set([...Object.keys(joypixelsNames), ...Object.keys(githubNames)])) {
  const all = [(joypixelsNames as EmojiNames)[codes] ?? [], (githubNames as EmojiNames)[codes] ?? []].flat();
  for (const name of all) if (!canonicalNames.has(name)) canonicalNames.set(name, all[0]!);
}

/** Returns the canonical name of an emoji, or undefined if no emoji has the name. `name` is without colons. */
export function canonicalEmojiName(name: string): string | undefined {
  return canonicalNames.get(name);
}

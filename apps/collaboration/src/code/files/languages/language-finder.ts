import type { Language } from 'linguist-languages';

/** Returns the language of a file by its name, null for data, prose and unknown files. */
export type LanguageFinder = (fileName: string) => string | null;

/** Languages that count; data and prose do not. */
const COUNTED: readonly Language['type'][] = ['programming', 'markup'];

let finder: Promise<LanguageFinder> | undefined;

/** Returns the finder. The list of languages is loaded at the first use, because it is large. */
export function languageFinder(): Promise<LanguageFinder> {
  return (finder ??= import('linguist-languages').then(({ default: _, ...list }) =>
    createLanguageFinder(Object.values(list)),
  ));
}

/** Creates a finder for a list of languages. Each extension in the list begins with a dot. */
function createLanguageFinder(languages: readonly Language[]): LanguageFinder {
  const byName = new Map<string, Language>();
  const byExtension = new Map<string, Language>();
  for (const language of languages.toSorted(compareByRank)) {
    for (const name of language.filenames ?? []) setIfAbsent(byName, name, language);
  }
  for (const [isMain, language] of rankExtensionClaims(languages)) {
    const [main, ...others] = language.extensions ?? [];
    for (const extension of isMain ? [main] : others) {
      if (extension !== undefined) setIfAbsent(byExtension, extension.toLowerCase(), language);
    }
  }
  return (fileName) => {
    const found =
      byName.get(fileName) ??
      listExtensions(fileName)
        .map((one) => byExtension.get(one))
        .find(Boolean);
    return found && COUNTED.includes(found.type) ? found.name : null;
  };
}

/**
 * Ranks the claims of languages to extensions, since several languages claim `.h` or `.m`. Each claim is a pair: whether
 * it is about the main extension, and the language. Main extensions come first. The others are ordered by age, common
 * languages before rare ones.
 */
function rankExtensionClaims(languages: readonly Language[]): (readonly [boolean, Language])[] {
  const byAge = languages.toSorted(
    (a, b) => scoreMissingCodemirrorMode(a) - scoreMissingCodemirrorMode(b) || a.languageId - b.languageId,
  );
  return [
    ...languages.toSorted(compareByRank).map((language) => [true, language] as const),
    ...byAge.map((language) => [false, language] as const),
  ];
}

/** Languages with an editor mode of their own, or any mode, are the common ones; lower ids are older languages. */
function compareByRank(a: Language, b: Language): number {
  return rarityOf(a) - rarityOf(b) || a.languageId - b.languageId;
}

function rarityOf(language: Language): number {
  const { name, aceMode } = language;
  if (name.toLowerCase().replace(/[^a-z0-9]/g, '') === aceMode.replaceAll('_', '')) return 0;
  return 1 + scoreMissingCodemirrorMode(language);
}

function scoreMissingCodemirrorMode({ codemirrorMode }: Language): 0 | 1 {
  return codemirrorMode === undefined ? 1 : 0;
}

function setIfAbsent(map: Map<string, Language>, key: string, language: Language): void {
  if (!map.has(key)) map.set(key, language);
}

/** Returns all extensions, the longest first: `.blade.php`, `.php`. Bounds: at most 4. */
function listExtensions(fileName: string): string[] {
  const parts = fileName.toLowerCase().split('.').slice(1).slice(-4);
  return parts.map((_, index) => `.${parts.slice(index).join('.')}`);
}

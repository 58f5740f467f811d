/** Description of a binary package, as searches show it. */
export interface ConanInfo {
  readonly settings: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly requires: readonly string[];
  readonly full_requires: readonly string[];
  readonly recipe_hash: string | null;
}

/** Bounds of a description, because parsing it blocks the event loop. Units: bytes, lines. */
export const MAX_INFO_BYTES = 64 * 1024;
export const MAX_INFO_LINES = 1000;

/** Whether a description has more lines than are read. Empty ones at the end do not count. */
export function hasTooManyConanInfoLines(text: string): boolean {
  return text.trimEnd().split('\n', MAX_INFO_LINES + 1).length > MAX_INFO_LINES;
}

/**
 * Parses `conaninfo.txt`: sections in brackets with a line for each entry. Lines that are no entry, unknown
 * sections and lines beyond MAX_INFO_LINES are skipped. Source: reference packages-and-admin 4.13.
 */
export function parseConanInfo(text: string): ConanInfo {
  const sections = parseConanInfoSections(text);
  const lines = (name: string): readonly string[] => sections.get(name) ?? [];
  return {
    settings: parseKeyValueLines(lines('settings')),
    options: parseKeyValueLines(lines('options')),
    requires: lines('requires'),
    full_requires: lines('full_requires'),
    recipe_hash: lines('recipe_hash')[0] ?? null,
  };
}

function parseConanInfoSections(text: string): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/, MAX_INFO_LINES).map((one) => one.trim())) {
    const [, name] = /^\[([^\]]+)\]$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (lines = sections.get(name) ?? []));
    else if (line !== '') lines.push(line);
  }
  return sections;
}

/** The names come from clients, so they do not become properties of a plain object's prototype. */
function parseKeyValueLines(lines: readonly string[]): Readonly<Record<string, string>> {
  const entries = lines.flatMap((line): [string, string][] => {
    const at = line.indexOf('=');
    return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : [];
  });
  return Object.fromEntries(entries);
}
